"""The command methods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from makespan.cli import parameters
from makespan.cli.process import DONE
from makespan.cli.progress import meanwhile


@click.command("methods")
@click.argument("kind_or_file", required=False, metavar="[KIND|FILE]")
@parameters.parts
@meanwhile("reading")
def command(*, kind_or_file: str | None, parts: dict[str, Any]) -> int:
    """List the methods of all kinds or of one KIND; for a problem FILE, say which apply.

    'exact' methods prove their plans optimal; 'published' ones are kept for comparison.
    """
    from makespan.flow.files.files import read_problem
    from makespan.flow.kinds import KINDS, methods

    if kind_or_file is None or kind_or_file in KINDS:
        names = list(KINDS) if kind_or_file is None else [kind_or_file]
        parameters.print_text("\n\n".join(f"{name}\n{methods(name)}" for name in names), wrap=True)
    else:
        _refuse_neither(kind_or_file)
        found = methods(read_problem(kind_or_file, **parts))
        all_apply = all(verdict.applies for verdict in found)
        parameters.print_text(f"these apply\n{found}" if all_apply else str(found), wrap=True)
    return DONE


def _refuse_neither(text: str) -> None:
    """Refuse what is neither a kind nor a file that there is."""
    from makespan.core.inputs.suggest import did_you_mean
    from makespan.flow.kinds import KINDS

    if text != "-" and not Path(text).exists():
        raise click.UsageError(
            f"{text!r} is neither a file nor a kind of problem{did_you_mean(text, KINDS)}"
        )
