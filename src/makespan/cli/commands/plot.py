"""The command plot."""

from __future__ import annotations

import click

from makespan.cli import parameters
from makespan.cli.codes import DONE, INFEASIBLE


@click.command("plot")
@parameters.file_argument("result")
@click.argument("out", type=click.Path())
@click.option(
    "--beside",
    type=click.Path(),
    metavar="OTHER",
    help="A second result, or a schedule, drawn below on a page (.html).",
)
def command(result: str, out: str, beside: str | None) -> int:
    """Draw RESULT, a result's JSON file, into OUT.

    \b
    .svg, .png    a Gantt chart
    .html         a page to zoom, filter and read in; needs nothing but a browser
    .trace.json   trace events, for ui.perfetto.dev
    """
    from makespan.flow.files.files import PICTURES, read_result, refuse_target, save
    from makespan.flow.files.reading import read_plan
    from makespan.flow.result import Result

    refuse_target(out, *(PICTURES if beside is None else (".html",)), source=result)
    if beside == result == "-":
        raise click.UsageError("only one of the two files can be standard input")
    plan = read_result(result)
    other = None if beside is None else read_plan(beside, plan.problem)
    for one in (plan, other):
        if isinstance(one, Result) and one.schedule is None:
            parameters.print_error(f"{out} not written: the result is {one.status}, without a plan")
            return INFEASIBLE
    save(plan, out, beside=other)
    parameters.print_text(f"{out} written")
    return DONE
