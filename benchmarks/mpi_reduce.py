"""Reductions on MPI: the plan, a chain and ``MPI.Reduce`` in one run.

``mpiexec -n 4 python -m benchmarks.mpi_reduce`` prints the table; with ``--write``, it is written
into the docs, under the number of ranks. All three work on the same arrays in turn; times are wall
times, of the slowest rank, with as many repetitions as are given by ``--repetitions``.
"""

from __future__ import annotations

import math
import os
import sys
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np

from benchmarks.table import Table, shown_seconds
from makespan import Reduction, Result, solve
from makespan.execute.collectives.together import rest_until_all
from makespan.execute.mpi import Execution, calibrate, run

LENGTHS = (2**7, 2**13, 2**17, 2**20)
SECONDS = 5.0
TYPE = "float64"


def chain_of(problem: Reduction) -> Result:
    """Return the chain with the number of segments that is best for it by the model."""
    plans = [solve(problem.with_segments(m), method="chain") for m in (1, 2, 4, 8, 16, 32, 64)]
    return min(plans, key=lambda plan: plan.makespan or math.inf)


def shown(times: tuple[float, ...]) -> str:
    """Return the median, and the least and largest time."""
    low, high = shown_seconds(min(times)), shown_seconds(max(times))
    return f"{shown_seconds(median(times))} ({low} to {high})"


def main(write: bool, repetitions: int) -> None:
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    found = calibrate(type=TYPE)
    table = None
    if comm.rank == 0:
        cores = len(os.sched_getaffinity(0))
        table = Table(
            f"mpi_reduce_{comm.size}",
            f"Reductions on {comm.size} ranks of MPI",
            f"Sums of {TYPE}; wall time of the slowest rank, median of {repetitions} (least to "
            f"largest), on a computer with {cores} cores, {MPI.Get_library_version().split()[0]}. "
            "Costs were measured first, pair by pair. Plan and chain are executed from Python.",
            (
                *("bytes", "segments", "plan, predicted", "plan"),
                *("chain, predicted", "chain", "MPI.Reduce", "plan / MPI.Reduce"),
            ),
            clock="wall time",
        )
    for length in LENGTHS:
        plans: list[Any] = [None, None]
        if comm.rank == 0:
            problem = found.problem(length * np.dtype(TYPE).itemsize)
            plans = [solve(problem, time_limit=SECONDS), chain_of(problem)]
        rest_until_all(comm)
        values = np.random.default_rng(comm.rank).random(length)
        plan, chain = (run(one, values, repetitions=repetitions) for one in plans)
        if table is not None:
            add(table, plans[0], plan, chain)
    if table is not None and write:
        table.write()


def add(table: Table, planned: Result, plan: Execution, chain: Execution) -> None:
    """Add the row of one length."""
    both = replace(plan, classical=plan.classical + chain.classical)
    table.add(
        f"{plan.length * 8:,}",
        str(int(planned.schedule.item.max()) + 1 if planned.schedule is not None else 0),
        plan.predicted,
        shown(plan.planned),
        chain.predicted,
        shown(chain.planned),
        shown(both.classical),
        f"{both.ratio:.2f}",
    )


if __name__ == "__main__":
    turns = [int(word) for word in sys.argv[1:] if word.isdigit()]
    main("--write" in sys.argv, turns[0] if turns else 15)
