"""The command report."""

import click

from makespan.cli import parameters
from makespan.cli.process import DONE
from makespan.cli.progress import meanwhile


@click.command("report")
@parameters.file_argument("tables", nargs=-1)
@parameters.as_json
@parameters.output("Write it: .html, .svg, .png, .pdf, .tex (LaTeX) or .csv.", several=True)
@click.option(
    "--panel",
    metavar="NAME",
    help="Draw one panel alone: ranks, critical-difference, profile, data-profile or times.",
)
@click.option(
    "--width", metavar="3.3in", callback=parameters.inches, help="How wide the panel is: in, cm."
)
@meanwhile("reading")
def command(
    *,
    tables: tuple[str, ...],
    as_json: bool,
    outputs: tuple[str, ...],
    panel: str | None,
    width: float | None,
) -> int:
    """Say how the methods did in the TABLES that experiments wrote.

    For all cases (an instance with a seed) and for each family of instances: plans, proofs, ratios
    to the best, gaps, times; mean ranks with the difference from which they mean something. As a
    page or a picture also how often each method was within x % of the best, within which time, and
    times over sizes; the page names the widest gaps.

    \b
    makespan compare experiment.toml -o results.parquet
    makespan report results.parquet -o report.html -o report.tex
    makespan report results.parquet --panel profile --width 3.3in -o figure.pdf
    """
    from makespan.flow.files.files import refuse_target
    from makespan.lab.overview import Overview, Panel, report

    if panel is None and width is not None:
        raise click.UsageError("--width is that of one panel; --panel says which")
    for output in outputs:
        refuse_target(output, *(Overview.SUFFIXES if panel is None else Panel.SUFFIXES))
    found = report(*tables)
    shown = found if panel is None else found.panel(panel, width=width)
    parameters.print_found(found, as_json)
    parameters.save_each(shown, outputs, as_json)
    return DONE
