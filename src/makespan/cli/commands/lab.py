"""The commands of the lab: bad problems, open problems, maps and summaries of experiments."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import click

from makespan.cli import parameters
from makespan.cli.process import DONE, INTERRUPTED, NOTHING_FOUND
from makespan.cli.progress import ProgressLine, meanwhile


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
def adversary_command(
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


@click.command("board")
@click.argument("action", type=click.Choice(["list", "submit"]))
@click.argument("plan", required=False, metavar="[FILE]")
@parameters.file_option("--folder", default="boards", says="Where the boards are.")
@click.option("--to", metavar="NAME", help="The board, where FILE has no problem.")
@click.option("--by", default="", metavar="NAME", help="Who found the plan.")
@meanwhile("checking")
def board_command(action: str, plan: str | None, folder: str, to: str | None, by: str) -> int:
    """List the boards of open problems, or submit a better plan for one.

    FILE is a result, or a schedule alone with --to. The referee checks it; a plan that ends earlier
    than the held one takes its place, and any other is refused with the reason.

    \b
    makespan board list
    makespan solve boards/NAME/problem.json --time-limit 600 -o better.json
    makespan board submit better.json --by "Ada"
    """
    from makespan.core.display import Table
    from makespan.drawing.text import percent
    from makespan.lab.held import held, submit

    if (plan is None) == (action == "submit"):
        raise click.UsageError(
            "submit takes the FILE of a plan" if plan is None else "list: no FILE"
        )
    if plan is not None:
        taken = submit(plan, folder, to=to, by=by)
        gap = percent(taken.gap)
        parameters.say(f"{taken.name}: taken, ends at {taken.plan.makespan:.10g}, gap {gap}")
        return DONE
    boards = held(folder)
    rows = {
        "board": [each.name for each in boards],
        "plan": [f"{each.plan.makespan:.10g}" for each in boards],
        "bound": [f"{each.bound['value']:.10g}" for each in boards],
        "gap": [percent(each.gap) for each in boards],
    }
    parameters.say(str(Table.of(rows)))
    return DONE


@click.command("landscape")
@parameters.file_argument("tables", nargs=-1)
@click.option("--kind", metavar="KIND", help="Whose instances, where the tables hold several.")
@click.option(
    "--corner",
    "corners",
    multiple=True,
    metavar="FILE",
    help="Mark what 'adversary' found: its --state or -o file; may be repeated.",
)
@parameters.as_json
@parameters.output("Write it: .html, .svg, .png, .pdf or .csv.", several=True)
@meanwhile("mapping")
def landscape_command(
    *,
    tables: tuple[str, ...],
    kind: str | None,
    corners: tuple[str, ...],
    as_json: bool,
    outputs: tuple[str, ...],
) -> int:
    """Map the instances of the TABLES that experiments wrote: where which method is best.

    Each instance has features: how many tasks, ratios of data to work, spreads of numbers. Their
    first two principal components are the map.

    \b
    makespan compare experiment.toml -o results.parquet
    makespan landscape results.parquet -o map.html -o map.pdf
    makespan adversary heft taskgraph --state search.json
    makespan landscape results.parquet --corner search.json -o map.html
    """
    from makespan.flow.files.files import refuse_target
    from makespan.lab.landscape import Landscape, landscape

    for output in outputs:
        refuse_target(output, *Landscape.SUFFIXES)
    found = landscape(*tables, kind=kind, corners=corners)
    parameters.print_found(found, as_json)
    parameters.save_each(found, outputs, as_json)
    return DONE


@click.command("report")
@parameters.file_argument("tables", nargs=-1)
@parameters.as_json
@parameters.output("Write it: .html, .svg, .png, .pdf, .tex (LaTeX) or .csv.", several=True)
@click.option(
    "--panel",
    metavar="NAME",
    help="Draw one panel alone: ranks, critical-difference, profile, data-profile or times.",
)
@click.option(
    "--width", metavar="3.3in", callback=parameters.inches, help="How wide the panel is: in, cm."
)
@meanwhile("reading")
def report_command(
    *,
    tables: tuple[str, ...],
    as_json: bool,
    outputs: tuple[str, ...],
    panel: str | None,
    width: float | None,
) -> int:
    """Say how the methods did in the TABLES that experiments wrote.

    For all cases (an instance with a seed) and for each family of instances: plans, proofs, ratios
    to the best, gaps, times; mean ranks with the difference from which they mean something. As a
    page or a picture also how often each method was within x % of the best, within which time, and
    times over sizes; the page names the widest gaps.

    \b
    makespan compare experiment.toml -o results.parquet
    makespan report results.parquet -o report.html -o report.tex
    makespan report results.parquet --panel profile --width 3.3in -o figure.pdf
    """
    from makespan.flow.files.files import refuse_target
    from makespan.lab.overview import Overview, Panel, report

    if panel is None and width is not None:
        raise click.UsageError("--width is that of one panel; --panel says which")
    for output in outputs:
        refuse_target(output, *(Overview.SUFFIXES if panel is None else Panel.SUFFIXES))
    found = report(*tables)
    shown = found if panel is None else found.panel(panel, width=width)
    parameters.print_found(found, as_json)
    parameters.save_each(shown, outputs, as_json)
    return DONE
