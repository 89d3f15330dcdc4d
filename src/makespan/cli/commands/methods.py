"""The command methods."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from makespan.cli import parameters
from makespan.cli.codes import DONE

if TYPE_CHECKING:
    from makespan.core.registry import Applicability


@click.command("methods")
@click.argument("kind_or_file", required=False, metavar="[KIND|FILE]")
def command(kind_or_file: str | None) -> int:
    """List the methods of all kinds or of one KIND; for a problem FILE, say which apply.

    'exact' methods prove their plans optimal; 'published' ones are kept for comparison.
    """
    from makespan.flow.files.files import read_problem
    from makespan.flow.kinds import KINDS
    from makespan.flow.methods import methods

    if kind_or_file is None or kind_or_file in KINDS:
        names = list(KINDS) if kind_or_file is None else [kind_or_file]
        blocks = [[name, *_listed(methods(name))] for name in names]
    else:
        _refuse_neither(kind_or_file)
        verdicts = methods(read_problem(kind_or_file))
        able = [verdict for verdict in verdicts if verdict.applies]
        others = [verdict for verdict in verdicts if not verdict.applies]
        blocks = [["these apply", *_listed(able)]] if able else []
        blocks += [["these do not", *_reasons(others)]] if others else []
    parameters.print_text("\n\n".join("\n".join(block) for block in blocks))
    return DONE


def _refuse_neither(text: str) -> None:
    """Refuse what is neither a kind nor a file that there is."""
    from makespan.core.inputs.suggest import did_you_mean
    from makespan.flow.kinds import KINDS

    if text != "-" and not Path(text).exists():
        raise click.UsageError(
            f"{text!r} is neither a file nor a kind of problem{did_you_mean(text, KINDS)}"
        )


def _listed(verdicts: list[Applicability] | tuple[Applicability, ...]) -> list[str]:
    width = max((len(verdict.name) for verdict in verdicts), default=0)
    lines = []
    for verdict in verdicts:
        method = verdict.method
        words = [
            word
            for word, said in (("exact", method.proves), ("published", method.published))
            if said
        ]
        label = f" [{', '.join(words)}]" if words else ""
        lines.append(f"  {verdict.name:<{width}}  {method.summary}{label}")
        if method.options:
            options = ", ".join(f"{name}={value!r}" for name, value in method.options.items())
            lines.append(f"  {'':<{width}}  options: {options}")
    return lines


def _reasons(verdicts: list[Applicability]) -> list[str]:
    width = max(len(verdict.name) for verdict in verdicts)
    return [
        f"  {verdict.name if not index else '':<{width}}  {reason}"
        for verdict in verdicts
        for index, reason in enumerate(verdict.reasons)
    ]
