"""The command help."""

from __future__ import annotations

import click

from makespan.cli import parameters
from makespan.cli.process import DONE


@click.command("help")
@click.argument("name", metavar="[COMMAND]", required=False)
@click.pass_context
def command(context: click.Context, name: str | None) -> int:
    """Say what COMMAND does, and which options it has; without one, which commands there are.

    \b
    makespan help solve
    """
    root = context.find_root()
    if name is None:
        parameters.print_text(root.get_help())
        return DONE
    group = root.command
    assert isinstance(group, click.Group)
    _, found, _ = group.resolve_command(root, [name])
    assert found is not None  # resolve_command refuses what there is not
    with click.Context(found, info_name=name, parent=root) as own:
        parameters.print_text(found.get_help(own))
    return DONE
