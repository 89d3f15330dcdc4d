"""The command report."""

from __future__ import annotations

import click

from makespan.cli import parameters
from makespan.cli.process import DONE
from makespan.cli.progress import meanwhile


@click.command("report")
@parameters.file_argument("tables", nargs=-1)
@parameters.as_json
@parameters.output("Write it: .html, .svg, .png, .pdf, .tex (LaTeX) or .csv.")
@meanwhile("reading")
def command(*, tables: tuple[str, ...], as_json: bool, output: str | None) -> int:
    """Say how the methods did in the TABLES that experiments wrote.

    For all cases (an instance with a seed) and for each family of instances: plans, proofs, ratios
    to the best, gaps, times; mean ranks with the difference from which they mean something. As a
    page or a picture also how often each method was within x % of the best, within which time, and
    times over sizes; the page names the widest gaps.

    \b
    makespan compare experiment.toml -o results.parquet
    makespan report results.parquet -o report.html
    """
    from makespan.flow.files.files import refuse_target, save
    from makespan.lab.overview import Overview, report

    if output is not None:
        refuse_target(output, *Overview.SUFFIXES)
    found = report(*tables)
    if as_json:
        parameters.print_json(found.as_dict())
    else:
        parameters.say(str(found))
    if output is not None:
        save(found, output)
        if not as_json:
            parameters.say(f"{output} written")
    return DONE
