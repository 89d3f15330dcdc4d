"""The command predict."""

from __future__ import annotations

from typing import Any

import click

from makespan.cli import parameters
from makespan.cli.process import DONE
from makespan.cli.progress import meanwhile


@click.command("predict")
@parameters.file_argument("trace")
@click.option(
    "--machines",
    metavar="4x48",
    help="How many machines, x cores, @ speed; or several such: 2x8@1.5,4x8. Else the trace's.",
)
@parameters.file_option("--graph", says="Who waits for whom: DOT of the engine, or JSON.")
@parameters.file_option(
    "--calibrate",
    says="A measured run by the same engine, to fit its overheads to; may be repeated.",
    multiple=True,
)
@parameters.named_values(
    "In place of that: startup, setup or dispatch, seconds, or link, bytes a second.", "--overhead"
)
@click.option("--noise", type=float, default=0.1, help="The error of durations: 0.1 is 10 %.")
@parameters.seed
@parameters.time_limit
@parameters.file_option("--plot", says="Draw the tasks and what the end waits for: .svg, .pdf, …")
@parameters.output("Write the run as a result: .json, .html, .svg, …")
@parameters.as_json
@meanwhile("predicting")
def command(
    *,
    trace: str,
    calibrate: tuple[str, ...],
    overhead: dict[str, Any],
    seed: int | None,
    plot: str | None,
    output: str | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Predict how long the work of a run takes on other machines.

    TRACE is Nextflow's trace, .ninja_log, Dask's task stream, WfFormat, a report of tests as of
    'makespan split', or a benchmark of Snakemake or a folder of them.

    \b
    makespan predict trace.txt --graph dag.dot --machines 4x48
    """
    from makespan.flow.files.files import PICTURES, refuse_target, save
    from makespan.flow.predict import predict

    if plot is not None:
        refuse_target(plot, *PICTURES, source=trace)
    found = predict(trace, calibrate=calibrate, overheads=overhead or None, rng=seed, **given)
    if output is not None:
        save(found.result, output)
    if plot is not None:
        save(found.result, plot, view="graph", by="path")
    if as_json:
        parameters.print_json(found.as_dict())
    else:
        parameters.say("\n".join([str(found), *(f"note: {note}" for note in found.notes)]))
    return DONE
