"""What the commands' parameters have in common."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from makespan.core.plain import plain

Function = TypeVar("Function", bound=Callable[..., Any])


class Seconds(click.ParamType[float]):
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


def file_argument(name: str, *, nargs: int = 1) -> Callable[[Function], Function]:
    """Return an argument that is a file's path, or '-'; several with ``nargs=-1``."""
    return click.argument(name, type=click.Path(), nargs=nargs, required=True)


def named_values(text: str, *, refused: Mapping[str, str] | None = None) -> Callable[[Any], Any]:
    """Return the option ``-O name=value``, which gives a dictionary.

    A value is read as in TOML, a bare word is a text. ``refused`` says why some names can't
    be given.
    """

    def parsed(
        context: click.Context, parameter: click.Parameter, given: tuple[str, ...]
    ) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for pair in given:
            name, equals, value = pair.partition("=")
            name = name.strip().replace("-", "_")
            if not equals or not name.isidentifier():
                raise click.BadParameter(f"{pair!r} is not of the form name=value")
            if name in (refused or {}):
                raise click.BadParameter((refused or {})[name])
            if name in values:
                raise click.BadParameter(f"{name} is given twice")
            values[name] = _value(value.strip())
        return values

    return click.option(
        *("-O", "options"), multiple=True, metavar="NAME=VALUE", callback=parsed, help=text
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
    from makespan.flow.files.files import as_json as text_of

    text = text_of(data) + "\n"
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(text)
    else:
        buffer.write(text.encode())


def print_text(text: str) -> None:
    """Print text on stdout, with what the terminal can't show replaced."""
    encoding = sys.stdout.encoding or "utf-8"
    click.echo(plain(text).encode(encoding, "replace").decode(encoding))


def print_error(text: str) -> None:
    """Print text on stderr."""
    click.echo(plain(text), err=True)
