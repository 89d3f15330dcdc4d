"""The commands for a Dask cluster and for MPI ranks: measure them, run a plan on them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from makespan.cli import cluster, parameters
from makespan.cli.cluster import OnMpi
from makespan.cli.process import DONE
from makespan.core.errors import InputError

if TYPE_CHECKING:
    from makespan.execute import Execution
    from makespan.flow.result import Result

PLATFORMS = (".toml", ".json")
RUN_FORMAT = "makespan.run/1"


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
def calibrate_command(
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


@click.command("run", cls=OnMpi)
@parameters.file_argument("result")
@cluster.scheduler_option()
@cluster.function
@parameters.file_option(
    "--data",
    "source",
    says="The items: .npy (rows), .json (a list), text (lines), or a folder of files. "
    "A task graph has none.",
)
@cluster.batched
@parameters.file_option("--results", says="Write the results (.json, .npy).")
@parameters.output("Write what was measured (.json).")
@parameters.file_option(
    "--plot", "picture", says="Draw it: .svg or .png; .html with the plan above it."
)
@parameters.as_json
def run_command(
    *,
    result: str,
    scheduler: str,
    function_name: str,
    source: str | None,
    batched: bool,
    results: str | None,
    output: str | None,
    picture: str | None,
    as_json: bool,
) -> int:
    """Run the plan in RESULT on a Dask cluster, and measure it.

    The function gets the items of the data. For the plan of a task graph it is called without
    anything, and returns the Dask collection that was planned.

    \b
    makespan run result.json --scheduler tcp://127.0.0.1:8786 --function work:render \\
        --data frames.npy --results rendered.npy --plot run.html

    Where the function raises on items, or tasks raise, all files are written, without the results
    of these.
    """
    from makespan.flow.files.files import PICTURES, read_result, refuse_target

    for target, suffixes in ((results, cluster.RESULTS), (output, (".json",)), (picture, PICTURES)):
        refuse_target(target, *suffixes, source=result)
    plan = read_result(result)
    execution = _executed(plan, function_name, source, scheduler, batched)
    written = _write(execution, results, output, picture)
    _raise_if_failed(plan, execution)
    if as_json:
        parameters.print_json(_as_dict(execution))
    else:
        parameters.say("\n".join([str(execution), *written]))
    return DONE


def _executed(
    plan: Result, function_name: str, source: str | None, scheduler: str, batched: bool
) -> Execution:
    """Run a plan: of a load with its data, of a task graph without."""
    dask = import_module("makespan.execute.dask")
    function, is_graph = cluster.find_function(function_name), plan.problem.kind == "taskgraph"
    if is_graph and source is not None:
        raise InputError("--data: a task graph has none; its function returns the collection")
    if not is_graph and source is None:
        raise InputError(f"--data: is missing; a plan of kind {plan.problem.kind!r} divides it")
    data = None if source is None else cluster.read_data(source)
    loud = not parameters.is_quiet()
    with cluster.connected(scheduler) as client:
        if is_graph:
            collection = function()  # type: ignore[call-arg]
            found = dask.compute(collection, client, plan=plan, keep_going=True, progress=loud)
        else:
            options = {"batched": batched, "keep_going": True, "progress": loud}
            found = dask.run(plan, function, data, client, **options)
    return found  # type: ignore[no-any-return]


def _raise_if_failed(plan: Result, execution: Execution) -> None:
    from makespan.execute.execution import raise_if_failed

    if plan.problem.kind == "taskgraph":
        import_module("makespan.execute.dask.graphs.batch").raise_if_tasks_failed(execution)
    raise_if_failed(execution)


def _write(
    execution: Execution, results: str | None, output: str | None, picture: str | None
) -> list[str]:
    """Write what was asked for; return a line about each file."""
    from makespan.flow.files.files import save

    if results is not None:
        cluster.write_results(execution.results, results)
    if output is not None:
        save(execution.schedule, output)
    if picture is not None:
        save(execution, picture)
    return [f"{target} written" for target in (results, output, picture) if target is not None]


def _as_dict(execution: Execution) -> dict[str, Any]:
    from makespan.flow.serialize import schedule_as_dict

    return {
        "format": RUN_FORMAT,
        "predicted": execution.predicted,
        "measured": execution.measured,
        "error": execution.error,
        "seconds": execution.seconds,
        "events": list(execution.events),
        "schedule": schedule_as_dict(execution.schedule),
    }
