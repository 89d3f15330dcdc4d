"""The commands run and calibrate with ``--mpi``, started on every rank by mpiexec."""

import os
import sys
from dataclasses import asdict
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from makespan.cli import parameters
from makespan.cli.process import DONE
from makespan.execute.collectives.together import ROOT, on_root
from makespan.execute.mpi.arrays import APART
from makespan.execute.mpi.execution import CALLS, Execution
from makespan.execute.mpi.measuring import calibrate as measure
from makespan.execute.mpi.run import OPERATIONS, TYPES, run as carry_out
from makespan.execute.mpi.world import all_or_none, mpi
from makespan.flow.result import Result
from makespan.reduction.model.validation import COUNTED
from makespan.reduction.problem import Reduction

DEFAULT_LENGTH = 2**17
RUN_FORMAT = "makespan.mpi-run/1"
LENGTH = click.IntRange(min=0)

type_option = click.option(
    *("--type", "type_"), type=click.Choice(TYPES), default="float64", help="Default float64."
)


@click.command("run")
@click.argument("plan", type=click.Path())
@click.option(
    "--length",
    type=LENGTH,
    help="Elements of the largest array of a rank; default the bytes of the problem, or 131072.",
)
@type_option
@click.option("--operation", type=click.Choice(tuple(OPERATIONS)), default="sum")
@click.option("--repetitions", type=click.IntRange(min=1), default=5, help="Default 5.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of the random values.")
@parameters.output("Write the measured schedule (.json), or draw it.")
@parameters.file_option("--plot", says="Draw plan and measurement together (.html).")
@parameters.as_json
def run(
    *,
    plan: str,
    length: int | None,
    type_: str,
    operation: str,
    repetitions: int,
    seed: int,
    output: str | None,
    plot: str | None,
    as_json: bool,
) -> int:
    """Carry out the collective planned in the result PLAN on random arrays; compare with MPI's own.

    \b
    mpiexec -n 4 makespan run --mpi plan.json --length 1000000 -o measured.json
    """
    comm = mpi().COMM_WORLD
    with all_or_none(comm):
        result, planned_bytes, parts = on_root(comm, lambda: _read(plan, output, plot, comm.size))
        if length is None:
            size = np.dtype(type_).itemsize
            length = (
                DEFAULT_LENGTH if planned_bytes is None else max(1, round(planned_bytes / size))
            )
        own = len(range(comm.rank % parts, length, parts))
        values = contribution(comm.rank, own, type_, seed)
        execution = carry_out(result, values, comm, operation=operation, repetitions=repetitions)
        on_root(comm, lambda: _write(result, execution, output, plot))
        _say(execution, _as_dict(execution) if as_json else None, output, plot)
    return DONE


@click.command("calibrate")
@parameters.output("Write the problem for --length elements (.toml, .json).")
@click.option("--length", type=LENGTH, default=DEFAULT_LENGTH, help="Default 131072.")
@click.option("--seconds", type=float, default=10.0, help="That it may take; default 10.")
@parameters.file_option(
    "--save", "kept", says="Write all that was measured (.json), for mpi.tuned."
)
@type_option
@click.option("--collective", type=click.Choice(tuple(CALLS)), default="reduce")
@click.option(
    "--segments",
    type=click.IntRange(min=1),
    help="Default auto for reduce, broadcast and all-reduce, else one for each rank.",
)
@parameters.as_json
def calibrate(
    *,
    output: str | None,
    length: int,
    seconds: float,
    kept: str | None,
    type_: str,
    collective: Any,
    segments: int | None,
    as_json: bool,
) -> int:
    """Measure latency, transfer and reduction times of all pairs of ranks.

    \b
    mpiexec -n 4 makespan calibrate --mpi --length 1000000 -o reduction.toml
    """
    from makespan.flow.files.files import refuse_target, save

    comm = mpi().COMM_WORLD
    with all_or_none(comm):

        def refuse() -> None:
            refuse_target(output, ".toml", ".json")
            refuse_target(kept, ".json")

        on_root(comm, refuse)
        found = measure(comm, seconds=seconds, type=type_, progress=not parameters.is_quiet())

        def write() -> None:
            if output is not None:
                size = length * np.dtype(type_).itemsize
                count: Any = segments or ("auto" if collective in COUNTED else comm.size)
                save(found.problem(size, collective=collective, segments=count), output)
            if kept is not None:
                found.save(kept)

        on_root(comm, write)
        _say(found, asdict(found) if as_json else None, output, kept)
    return DONE


def _say(found: Any, columns: dict[str, Any] | None, *files: str | None) -> None:
    """Print what was found, as columns where they are asked for, or else with the files written."""
    if columns is not None:
        parameters.print_json(columns)
        return
    for line in (str(found), *(f"{file} written" for file in files if file is not None)):
        parameters.say(line)


def contribution(rank: int, length: int, type_: str, seed: int) -> NDArray[Any]:
    """Return the random values of a rank: integers of the whole range, or floats from 0.5 to 1.5.

    >>> contribution(0, 2, "int64", 0).dtype
    dtype('int64')
    """
    rng = np.random.default_rng([seed, rank])
    kind = np.dtype(type_)
    if kind.kind == "f":
        return rng.uniform(0.5, 1.5, length).astype(kind)
    limits = np.iinfo(kind)
    values: NDArray[Any] = rng.integers(limits.min, limits.max, length, kind, endpoint=True)
    return values


def _read(
    plan: str, output: str | None, plot: str | None, ranks: int
) -> tuple[Result, float | None, int]:
    """Read the plan on rank 0, after making sure that what is asked for can be written.

    Return also its bytes, and of how many parts of the largest array a rank contributes one.
    """
    from makespan.flow.files.files import PICTURES, read_result, refuse_target

    refuse_target(output, ".json", *PICTURES)
    refuse_target(plot, ".html")
    result = read_result(plan)
    problem = result.problem
    if not isinstance(problem, Reduction):
        return result, None, 1
    return result, problem.bytes, ranks if problem.collective in APART else 1


def _write(result: Result, execution: Execution, output: str | None, plot: str | None) -> None:
    from makespan.core.inputs.files import write_whole
    from makespan.execute.collectives.calibration import seconds
    from makespan.flow.files.files import save
    from makespan.flow.plot import run_page

    if output is not None:
        save(execution.schedule, output)
    if plot is not None:
        said = f"measured {seconds(execution.measured)}", *str(execution).split("\n")
        write_whole(plot, run_page(execution.schedule, said, result))


def _as_dict(execution: Execution) -> dict[str, Any]:
    from makespan.flow.serialize import schedule_as_dict

    return {
        "format": RUN_FORMAT,
        "collective": execution.collective,
        "operation": execution.operation,
        "type": execution.type,
        "length": execution.length,
        "ranks": execution.ranks,
        "predicted": execution.predicted,
        "planned": list(execution.planned),
        "classical": list(execution.classical),
        "exact": execution.exact,
        "difference": execution.difference,
        "schedule": schedule_as_dict(execution.schedule),
    }


def quiet_but_root() -> None:
    """Let rank 0 alone speak."""
    if mpi().COMM_WORLD.rank != ROOT:
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
