"""The command adversary."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import click

from makespan.cli import parameters
from makespan.cli.process import DONE, INTERRUPTED, NOTHING_FOUND
from makespan.cli.progress import ProgressLine


def _ranges(
    context: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> dict[str, tuple[float, float]]:
    """Return the ranges in texts such as ``tasks.*.work=0:1``."""
    found = {}
    for text in given:
        place, _, ends = text.partition("=")
        try:
            low, high = map(float, ends.split(":"))
        except ValueError:
            raise click.BadParameter(f"{text!r} is not of the form PLACE=LOW:HIGH") from None
        found[place.strip()] = (low, high)
    return found


@click.command("adversary")
@click.argument("method")
@click.argument("start", nargs=-1, required=True)
@click.option(
    "--against",
    default="optimum",
    show_default=True,
    metavar="METHOD|optimum|bound",
    help="What the method is compared with.",
)
@parameters.named_values("An option of the generator, where START is a kind; may be repeated.")
@click.option(
    "--within",
    multiple=True,
    callback=_ranges,
    metavar="PLACE=LOW:HIGH",
    help="The range of numbers, or of the length of a list: tasks.*.work=0:1, tasks=3:5.",
)
@click.option("--iterations", type=click.IntRange(min=1), default=500, show_default=True,
              metavar="N", help="Problems of a chain.")  # fmt: skip
@click.option("--chains", type=click.IntRange(min=1), default=4, show_default=True,
              metavar="N", help="Chains, each from a start of its own.")  # fmt: skip
@click.option("--time-limit", type=parameters.Seconds(), default=60.0, show_default=True,
              metavar="SECONDS", help="The limit of the search.")  # fmt: skip
@click.option("--solve-limit", type=parameters.Seconds(), default=1.0, show_default=True,
              metavar="SECONDS", help="The limit of each solve.")  # fmt: skip
@click.option("--minimal", is_flag=True, help="Make the worst problem smaller while it stays bad.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Run chains in N processes.")
@parameters.file_option("--state", says="How far the search is (.json); it goes on with that.")
@parameters.seed
@parameters.as_json
@parameters.output(
    "Write the worst problem (.json, .toml), both plans (.html) or the changes (.csv).",
    several=True,
)
def command(
    *,
    method: str,
    start: tuple[str, ...],
    options: dict[str, Any],
    jobs: int | None,
    seed: int | None,
    as_json: bool,
    outputs: tuple[str, ...],
    state: str | None,
    **asked: Any,
) -> int:
    """Search for the problem on which METHOD does worst, from START: a kind, or problem files.

    Both plans are refereed, and compared with an optimum only where it is proved. What is found is
    the worst that this search came upon: there may be worse.

    \b
    makespan adversary heft taskgraph -O size=6 -O machines=3 --minimal -o worst.json
    makespan adversary heft taskgraph --against peft --within tasks=3:5 --within 'tasks.*.work=0:1'
    makespan adversary lpt independent --against bound --jobs 2 --state search.json
    """
    from makespan.flow.files.files import refuse_target
    from makespan.flow.kinds import KINDS
    from makespan.lab.adversary.found import Adversary
    from makespan.lab.adversary.search import adversary, starts_of

    for output in outputs:
        refuse_target(output, *Adversary.SUFFIXES)
    refuse_target(state, ".json")
    rng = seed or 0
    begin: Any = start if len(start) > 1 else start[0]
    if len(start) > 1 and (kind := next((each for each in start if each in KINDS), None)):
        raise click.UsageError(f"START is one kind, or files: {kind} is a kind")
    if begin in KINDS:
        begin = starts_of(begin, options, rng)
    elif options:
        raise click.UsageError("-O is for a START that is a kind; files hold their problems")
    line = ProgressLine("searching")

    def tell(tried: int, most: int, best: float) -> None:
        line.say(f"{tried:,} of {most:,} problems, ratio {best:.4g}")

    with ExitStack() as stack:
        if jobs is not None:
            from makespan.execute import Executor

            asked["where"] = stack.enter_context(Executor(on=jobs)).map
        stack.enter_context(line.shown())
        found = adversary(method, begin, rng=rng, state=state, progress=tell, **asked)
    parameters.print_found(found, as_json)
    if found.problem is not None:
        parameters.save_each(found, outputs, as_json)
    if found.interrupted:
        more = f"; the same command goes on with {state}" if state else ""
        click.echo(f"interrupted: this is the worst problem found so far{more}", err=True)
        return INTERRUPTED
    return DONE if found.problem is not None else NOTHING_FOUND
