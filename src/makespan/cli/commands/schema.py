"""The command schema."""

from __future__ import annotations

import click

from makespan.cli.process import DONE


@click.command("schema")
@click.argument("kind", required=False)
def command(kind: str | None) -> int:
    """Print the JSON Schema (2020-12) of problem files: of one KIND, or of all in one.

    Editors check and complete files with it, TOML files, too.

    \b
    makespan schema > makespan.schema.json
    """
    import json

    from makespan.cli import parameters
    from makespan.flow.kinds import schema

    parameters.print_text(json.dumps(schema(kind), indent=2))
    return DONE
