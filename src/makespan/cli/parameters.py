"""What the commands' parameters have in common."""

import logging
import math
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial, wraps
from typing import Any, TypeVar, cast

import click

from makespan.core.errors import plain

QUIET = "makespan.quiet"
LINE = "makespan.line"
"""What the context of a command knows: whether it is quiet, the line on a terminal."""
NARROWEST = 20
NARROW = 4
COLUMN = re.compile(r"(?<=\S) {2,}(?=\S)")  # what stands between two columns

PARTS = (
    *("tasks", "objective", "deadline", "budget", "interpolation"),
    *("machines", "speeds", "network"),
)
"""Options that stand for keys of a problem's file."""

Function = TypeVar("Function", bound=Callable[..., Any])


class Seconds(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """A number of seconds, 0 or more."""

    name = "seconds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not number >= 0:
            self.fail(f"{value!r} is not a time; a limit is 0 or more seconds", param, ctx)
        return number


time_limit = click.option(
    "--time-limit", type=Seconds(), metavar="SECONDS", help="Stop with the best found by then."
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, only that.")
seed = click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", help="Seed of random choices (default 0)."
)


def _be_quiet(context: click.Context, parameter: click.Parameter, given: bool) -> None:
    root, log = context.find_root(), logging.getLogger("makespan")
    if given and not root.meta.get(QUIET):
        root.meta[QUIET] = True
        root.call_on_close(partial(log.setLevel, log.level))
        log.setLevel(logging.ERROR)


COMMON = (
    click.Option(
        ["-q", "--quiet"],
        is_flag=True,
        expose_value=False,
        callback=_be_quiet,
        help="Print only what --json or '-' asks for.",
    ),
    click.Option(
        ["--debug"], is_flag=True, expose_value=False, help="Show a traceback when something fails."
    ),
)


def with_common(command: click.Command) -> click.Command:
    """Return a command with the options that all have."""
    command.params += [option for option in COMMON if option not in command.params]
    return command


def _speeds(
    context: click.Context, parameter: click.Parameter, given: str | None
) -> list[float] | None:
    if given is None:
        return None
    try:
        return [float(speed) for speed in given.split(",")]
    except ValueError:
        raise click.BadParameter(f"{given!r} is not a list of numbers such as 1,1,2.5") from None


def parts(function: Function) -> Function:
    """Add options for what a file lacks, or says otherwise; the function gets them as ``parts``."""

    @click.option("--tasks", type=click.IntRange(min=0), help="Tasks to split (partition).")
    @click.option(
        "--objective",
        metavar="NAME",
        help="What is to be least: makespan, energy, price, …, or pareto, the front of two.",
    )
    @click.option("--deadline", type=Seconds(), metavar="SECONDS", help="The latest end of plans.")
    @click.option("--budget", type=float, metavar="N", help="The most that a plan may cost.")
    @click.option(
        "--interpolation",
        type=click.Choice(["exact", "linear", "pchip", "step"]),
        help="What is assumed between the measured counts of a CSV file.",
    )
    @click.option(
        "--machines",
        type=click.IntRange(min=1),
        metavar="N",
        help="N equal machines, each linked to each (graphs); how many there are (others).",
    )
    @click.option("--speeds", metavar="A,B,…", callback=_speeds, help="A machine of each speed.")
    @file_option("--network", says="Machines and links: a file with a table [network].")
    @named_values(
        "Any other key of the problem's file; may be repeated.", "--set", "settings", dotted=True
    )
    @wraps(function)
    def called(settings: dict[str, Any], **others: Any) -> Any:
        found = {name: others.pop(name) for name in PARTS}
        named = {name: value for name, value in found.items() if value is not None}
        return function(parts={**named, **settings}, **others)

    return cast(Function, called)


def say_between(file: str, given: Mapping[str, Any]) -> None:
    """Say how counts may be split that were not measured, where a CSV file allows no plan."""
    if file.lower().endswith(".csv") and "interpolation" not in given:
        say(
            "note: only the measured counts are allowed; --interpolation linear, pchip or step "
            "allows those between them"
        )


def file_argument(name: str, *, nargs: int = 1) -> Callable[[Function], Function]:
    """Return an argument that is a file's path, or '-'; several with ``nargs=-1``."""
    return click.argument(name, type=click.Path(), nargs=nargs, required=True)


def file_option(*names: str, says: str, **more: Any) -> Callable[[Function], Function]:
    """Return an option that is a file's path."""
    return click.option(*names, type=click.Path(), help=says, **{"metavar": "FILE", **more})


INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72}


def inches(context: click.Context, parameter: click.Parameter, given: str | None) -> float | None:
    """Return a width such as ``3.3in`` in inches."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*(in|cm|mm|pt)\s*", given or "")
    if given is not None and found is None:
        raise click.BadParameter(f"{given!r} is not a width such as 3.3in, 8.4cm or 240pt")
    return None if found is None else float(found[1]) * INCHES[found[2]]


def output(says: str, *, several: bool = False) -> Callable[[Function], Function]:
    """Return the option that names the file to be written, or files where there may be several."""
    if several:
        says = f"{says.rstrip('.')}; may be repeated."
    return file_option(
        "-o", "--output", "outputs" if several else "output", says=says, multiple=several
    )


def named_values(
    text: str, *names: str, refused: Mapping[str, str] | None = None, dotted: bool = False
) -> Callable[[Any], Any]:
    """Return the option ``-O name=value``, which gives a dictionary.

    A value is read as in TOML, a bare word is a text. ``refused`` says why some names can't
    be given. A ``dotted`` name reaches into a table.
    """

    def parsed(
        context: click.Context, parameter: click.Parameter, given: tuple[str, ...]
    ) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for pair in given:
            name, equals, value = pair.partition("=")
            name = name.strip().replace("-", "_")
            known = all(map(str.isidentifier, name.split(".") if dotted else [name]))
            if not equals or not known:
                raise click.BadParameter(f"{pair!r} is not of the form name=value")
            if name in (refused or {}):
                raise click.BadParameter((refused or {})[name])
            if name in values:
                raise click.BadParameter(f"{name} is given twice")
            values[name] = _value(value.strip())
        return values

    return click.option(
        *(names or ("-O", "options")),
        multiple=True,
        metavar="NAME=VALUE",
        callback=parsed,
        help=text,
    )


def _value(text: str) -> Any:
    import tomllib

    try:
        data = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return data["value"] if len(data) == 1 else text


def print_json(data: Any) -> None:
    """Print one JSON object on stdout."""
    from makespan.flow.serialize import as_json as text_of

    _make_room()
    text = text_of(data) + "\n"
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(text)
    else:
        buffer.write(text.encode())


def print_text(text: str, *, wrap: bool = False) -> None:
    """Print text on stdout, wrapped for people, with what the terminal can't show replaced."""
    _make_room()
    encoding = sys.stdout.encoding or "utf-8"
    text = plain(text)
    if wrap and sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
        text = "\n".join(wrapped(line, width) for line in text.split("\n"))
    click.echo(text.encode(encoding, "replace").decode(encoding))


def _make_room() -> None:
    """Take away the line of progress, which what is printed would run into."""
    context = click.get_current_context(silent=True)
    line = context.meta.get(LINE) if context is not None else None
    if line is not None:
        line.hide()


def say(text: str) -> None:
    """Print what ``--quiet`` leaves out: a summary, a table, which file was written."""
    if not is_quiet():
        print_text(text, wrap=True)


def print_found(found: Any, as_json: bool) -> None:
    """Print what was found, as a JSON object or as text."""
    if as_json:
        print_json(found.as_dict())
    else:
        say(str(found))


def save_each(found: Any, outputs: Iterable[str], as_json: bool = False) -> None:
    """Save what was found to each file, and say so where no JSON object is printed."""
    from makespan.flow.files.files import save

    for output in outputs:
        save(found, output)
        if not as_json:
            say(f"{output} written")


def is_quiet() -> bool:
    """Whether the command was called with ``--quiet``."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.find_root().meta.get(QUIET))


def wrapped(line: str, width: int) -> str:
    """Return a line of a table or of text in lines of at most ``width`` characters.

    A last column of words that begins in the left half is wrapped below itself; other lines are
    broken between columns, or else between words, and what follows is indented.

    >>> print(wrapped("  lpt  Longest task first, each on the machine that is free first.", 40))
      lpt  Longest task first, each on the
           machine that is free first.
    >>> print(wrapped("   heft  feasible  91.5  37.1 %  0.01 s  by search", 34))
       heft  feasible  91.5  37.1 %
           0.01 s  by search
    """
    if len(line) <= width or width < NARROWEST:
        return line
    start = len(line) - len(line.lstrip())
    if 2 * start > width:
        start, line = NARROW, " " * NARROW + line.lstrip()
    ends = [gap.end() for gap in COLUMN.finditer(line) if 2 * gap.end() <= width]
    beside = ends and not COLUMN.search(line, ends[-1])
    hang = ends[-1] if beside else start + NARROW
    lines: list[str] = []
    while len(line) > width:
        gaps = [gap.start() for gap in COLUMN.finditer(line) if hang < gap.end() <= width]
        inside = [place for place in gaps if place > hang or not lines]
        place = inside[-1] if inside and not beside else line.rfind(" ", hang + 1, width + 1)
        if place <= hang and not (inside and not beside):
            place = line.find(" ", width)
            if place < 0:
                break
        lines.append(line[:place].rstrip())
        line = " " * hang + line[place:].lstrip()
    return "\n".join([*lines, line])


def print_error(text: str) -> None:
    """Print text on stderr."""
    _make_room()
    click.echo(plain(text), err=True)
