"""The command landscape."""

import click

from makespan.cli import parameters
from makespan.cli.process import DONE
from makespan.cli.progress import meanwhile


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
def command(
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
    from makespan.lab.landscape.map import Landscape, landscape

    for output in outputs:
        refuse_target(output, *Landscape.SUFFIXES)
    found = landscape(*tables, kind=kind, corners=corners)
    parameters.print_found(found, as_json)
    parameters.save_each(found, outputs, as_json)
    return DONE
