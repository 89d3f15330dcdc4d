"""The command plot."""

from typing import Any

import click

from makespan.cli import parameters
from makespan.cli.process import DONE, INFEASIBLE
from makespan.cli.progress import meanwhile


@click.command("plot")
@parameters.file_argument("file")
@click.argument("out", type=click.Path())
@click.option(
    "--view",
    metavar="NAME",
    help="gantt, graph, platform, costs, front or tasks: which picture, where a kind has several.",
)
@click.option(
    "--by",
    metavar="NAME",
    help="type, level, path, machine or cluster: what colours tell apart in a task graph; "
    "transfer, in the Gantt chart of a reduction.",
)
@click.option("--fold", is_flag=True, help="Leave transfers out of a Gantt chart.")
@click.option("--width", metavar="6.5in", callback=parameters.inches, help="How wide: in, cm.")
@click.option("--landscape", is_flag=True, help="Put the layers of a graph side by side: slides.")
@parameters.parts
@parameters.file_option(
    "--beside",
    says="A second result, or a schedule, drawn below on a page (.html).",
    metavar="OTHER",
)
@meanwhile("drawing")
def command(
    *,
    file: str,
    out: str,
    view: str | None,
    by: str | None,
    fold: bool,
    width: float | None,
    landscape: bool,
    parts: dict[str, Any],
    beside: str | None,
) -> int:
    """Draw FILE, a result or a problem, into OUT.

    \b
    .svg, .png, .pdf  a picture: of a result its Gantt chart, of a problem its graph,
                      platform or costs, or what --view says
    .html             a page; of a result, to zoom, filter and read in
    .trace.json       trace events of a result, for ui.perfetto.dev

    \b
    makespan plot result.json plan.svg
    makespan plot result.json graph.pdf --view graph --landscape --width 10in
    makespan plot problem.toml problem.svg
    """
    from makespan.core.errors import FileError
    from makespan.core.schedule import Schedule
    from makespan.flow.files.files import PICTURES, refuse_target, save
    from makespan.flow.files.reading import read_any, read_plan
    from makespan.flow.result import Result

    refuse_target(out, *(PICTURES if beside is None else (".html",)), source=file)
    if beside == file == "-":
        raise click.UsageError("only one of the two files can be standard input")
    thing = read_any(file, None, **parts)
    if isinstance(thing, Schedule):
        raise FileError(f"{file}: is a schedule alone; 'makespan convert' draws it")
    other = None
    if beside is not None:
        if not isinstance(thing, Result):
            raise click.UsageError("--beside needs two plans; the first file is a problem")
        other = read_plan(beside, thing.problem)
    for one in (thing, other):
        if isinstance(one, Result) and one.schedule is None:
            parameters.print_error(f"{out} not written: the result is {one.status}, without a plan")
            return INFEASIBLE
    save(thing, out, beside=other, view=view, by=by, fold=fold, width=width, landscape=landscape)
    parameters.say(f"{out} written")
    return DONE
