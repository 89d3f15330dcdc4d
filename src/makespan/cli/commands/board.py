"""The command board."""

import click

from makespan.cli import parameters
from makespan.cli.process import DONE
from makespan.cli.progress import meanwhile


@click.command("board")
@click.argument("action", type=click.Choice(["list", "submit"]))
@click.argument("plan", required=False, metavar="[FILE]")
@parameters.file_option("--folder", default="boards", says="Where the boards are.")
@click.option("--to", metavar="NAME", help="The board, where FILE has no problem.")
@click.option("--by", default="", metavar="NAME", help="Who found the plan.")
@meanwhile("checking")
def command(action: str, plan: str | None, folder: str, to: str | None, by: str) -> int:
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
