"""The command plot."""

from __future__ import annotations

import click

from makespan.cli import parameters
from makespan.cli.codes import DONE, INFEASIBLE


@click.command("plot")
@parameters.file_argument("result")
@click.argument("out", type=click.Path())
def command(result: str, out: str) -> int:
    """Draw RESULT, a result's JSON file, as a Gantt chart into OUT: .svg or .png."""
    from makespan.flow._files import PICTURES, read_result, refuse_target, save

    refuse_target(out, *PICTURES)
    plan = read_result(result)
    if plan.schedule is None:
        click.echo(f"{out} not written: the result is {plan.status}, without a plan", err=True)
        return INFEASIBLE
    save(plan, out)
    parameters.print_text(f"{out} written")
    return DONE
