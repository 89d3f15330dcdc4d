"""The command calibrate."""

from importlib import import_module

import click

from makespan.cli import cluster, parameters
from makespan.cli.cluster import OnMpi
from makespan.cli.process import DONE

PLATFORMS = (".toml", ".json")


@click.command("calibrate", cls=OnMpi)
@cluster.scheduler_option()
@cluster.function
@parameters.file_option(
    "--sample",
    says="Data as it will come: .npy (rows), .json (a list), text (lines), or a folder of files.",
    required=True,
)
@cluster.batched
@click.option("--load", type=float, metavar="UNITS", help="The load to plan; default the sample's.")
@click.option(
    "--rounds", type=click.IntRange(min=1), metavar="N", help="Chunks a worker may get; default 1."
)
@click.option(
    "--kind",
    type=click.Choice(["divisible", "partition"]),
    default="divisible",
    help="What to write: affine costs, or measured tables of counts and times.",
)
@parameters.output("Write the problem (.toml, .json).")
@parameters.as_json
def command(
    *,
    scheduler: str,
    function_name: str,
    sample: str,
    batched: bool,
    load: float | None,
    rounds: int | None,
    kind: str,
    output: str | None,
    as_json: bool,
) -> int:
    """Measure a Dask cluster, or MPI ranks; print the costs, and write the problem on them.

    \b
    makespan calibrate --scheduler tcp://127.0.0.1:8786 --function work:render \\
        --sample frames.npy -o platform.toml

    With --mpi, on every rank, it measures the ranks for a collective; see
    'makespan calibrate --mpi --help'.

    \b
    mpiexec -n 4 makespan calibrate --mpi --collective all-reduce -o all-reduce.toml
    """
    from makespan.flow.files.files import refuse_target, save

    refuse_target(output, *PLATFORMS)
    dask = import_module("makespan.execute.dask")
    function, data = cluster.find_function(function_name), cluster.read_data(sample)
    with cluster.connected(scheduler) as client:
        found = dask.calibrate(
            function, data, client, batched=batched, progress=not parameters.is_quiet()
        )
    if output is not None and kind == "partition":
        save(found.partition(round(found.load if load is None else load)), output)
    elif output is not None:
        found.save(output, load, rounds=rounds or 1)
    if as_json:
        parameters.print_json(found.as_dict())
    else:
        parameters.say(str(found))
        if output is not None:
            parameters.say(f"{output} written")
    return DONE
