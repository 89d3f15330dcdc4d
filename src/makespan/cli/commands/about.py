"""The commands that say what there is: commands, methods, the form of files."""

from pathlib import Path
from typing import Any

import click

from makespan.cli import parameters
from makespan.cli.process import DONE
from makespan.cli.progress import meanwhile


@click.command("help")
@click.argument("name", metavar="[COMMAND]", required=False)
@click.pass_context
def help_command(context: click.Context, name: str | None) -> int:
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


@click.command("methods")
@click.argument("kind_or_file", required=False, metavar="[KIND|FILE]")
@parameters.parts
@meanwhile("reading")
def methods_command(*, kind_or_file: str | None, parts: dict[str, Any]) -> int:
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


@click.command("schema")
@click.argument("kind", required=False)
def schema_command(kind: str | None) -> int:
    """Print the JSON Schema (2020-12) of problem files: of one KIND, or of all in one.

    Editors check and complete files with it, TOML files, too.

    \b
    makespan schema > makespan.schema.json
    """
    import json

    from makespan.flow.kinds import schema

    parameters.print_text(json.dumps(schema(kind), indent=2))
    return DONE
