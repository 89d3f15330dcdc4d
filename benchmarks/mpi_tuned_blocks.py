"""What deals blocks, tuned by what was measured, beside MPICH's settings and Open MPI.

``python -m benchmarks.mpi_tuned_blocks RESULTS.json [NETWORK ...]``, as ``benchmarks.mpi_tuned``.
An all-to-all is not tuned: there it is a prepared plan, to show what one would give.
"""

from __future__ import annotations

import json
import os
import sys
from statistics import median
from typing import Any

import numpy as np

from benchmarks.mpi_tuned import NETWORKS as ALL, command, launcher
from benchmarks.table import Table

NETWORKS = {name: order for name, order in ALL.items() if order is not None}
COLLECTIVES = ("gather", "scatter", "all-gather", "reduce-scatter", "all-to-all")
VARIABLES = ("GATHER", "SCATTER", "ALLGATHER", "REDUCE_SCATTER_BLOCK", "ALLTOALL")
SETTINGS = {
    "auto": ("auto",) * 5,
    "second": ("binomial", "binomial", "ring", "pairwise", "pairwise"),
    "third": ("nb", "nb", "recursive_doubling", "recursive_halving", "scattered"),
}
LENGTHS = (100_000, 1_000_000)
REPEATS = ("5", "3")
ROUNDS = 2
SEGMENTS = 8  # of every rank for each, in the all-to-all that is prepared
SELF = ["-m", "benchmarks.mpi_tuned_blocks"]


def inside(which: str, repeats: list[int]) -> None:
    """Run on every rank: time all collectives of all lengths; rank 0 prints what they took."""
    from mpi4py import MPI

    from makespan.execute import mpi

    comm, found = MPI.COMM_WORLD, {}
    best = mpi.tuned(comm, progress=False) if which == "tuned" else None
    for name in COLLECTIVES:
        found[name] = [
            _times(comm, best, name, length, times)
            for length, times in zip(LENGTHS, repeats, strict=True)
        ]
    if comm.rank == 0:
        print("\n" + json.dumps(found), flush=True)


def _times(comm: Any, best: Any, name: str, length: int, times: int) -> list[float]:
    """Return what the calls of one collective took, of the slowest rank, seconds."""
    from mpi4py import MPI

    is_root = comm.rank == 0
    whole = np.random.default_rng(comm.rank).random(length)
    part, block, result = whole[: length // comm.size], np.empty(length // comm.size), whole * 0
    calls: dict[str, Any] = {
        "gather": ("Gather", part, result if is_root else None),
        "scatter": ("Scatter", whole if is_root else None, block),
        "all-gather": ("Allgather", part, result),
        "reduce-scatter": ("Reduce_scatter_block", whole, block),
        "all-to-all": ("Alltoall", whole, result),
    }
    method, own, into = calls[name]
    library = getattr(comm, method)
    library(own, into)
    expected = None if into is None else into.copy()
    call = library if best is None else getattr(best, method, None) or _prepared(comm, best, length)
    call(own, into)
    assert expected is None or np.allclose(into, expected)
    took = []
    for _ in range(times):
        comm.Barrier()
        begin = MPI.Wtime()
        call(own, into)
        took.append(comm.allreduce(MPI.Wtime() - begin, op=MPI.MAX))
    return took


def _prepared(comm: Any, best: Any, length: int) -> Any:
    """Return an all-to-all by the best plan that is found in five seconds."""
    from makespan import solve
    from makespan.execute import mpi
    from tests.execute.mpi.launch import made_first

    problem = best.calibration.problem(
        8 * length, segments=SEGMENTS * comm.size, collective="all-to-all"
    )
    return mpi.prepare(made_first(comm, solve, problem, time_limit=5), comm)


def measured(network: str) -> dict[str, Any]:
    """Return what everything took in a network; the runs follow one another, round by round."""
    found: dict[str, Any] = {}
    with launcher(NETWORKS[network]) as start:
        runs = [(f"MPICH, {name}", name, False, "library") for name in SETTINGS]
        runs.append(("tuned, on MPICH", "auto", False, "tuned"))
        if "OPENMPI" in os.environ:
            runs.append(("Open MPI", "auto", True, "library"))
        for _ in range(ROUNDS):
            for label, name, openmpi, which in runs:
                extra = {
                    f"MPIR_CVAR_{variable}_INTRA_ALGORITHM": value
                    for variable, value in zip(VARIABLES, SETTINGS[name], strict=True)
                }
                one = start(extra, openmpi, *SELF, which, *REPEATS)
                known = found.setdefault(label, {each: [[], []] for each in COLLECTIVES})
                for collective, both in one.items():
                    for kept, more in zip(known[collective], both, strict=True):
                        kept.extend(more)
                medians = {name: [round(median(t), 5) for t in both] for name, both in one.items()}
                print(network, label, medians, file=sys.stderr)
    return found


def write(results: dict[str, Any]) -> None:
    """Write the table: medians of the best of MPICH, of Open MPI, and of tuned."""
    table = Table(
        "mpi_tuned_blocks",
        "Collectives that deal blocks on four ranks: tuned, MPICH and Open MPI",
        "float64; the size is that of the larger array. Networks as in "
        "[all-reduces](mpi_tuned.md); other programs used the two cores, too. Wall time of the "
        "slowest rank, medians. MPICH: the best of its automatic choice and two other settings. An "
        "all-to-all has no tuned method: there it is a prepared plan. Above 1, tuned is faster "
        "than the best of the others.",
        (
            "network",
            "collective",
            "size",
            "MPICH",
            "Open MPI",
            "tuned",
            "best of the others / tuned",
        ),
        clock="wall time",
    )
    for network, found in results.items():
        for collective in COLLECTIVES:
            for place, length in enumerate(LENGTHS):
                medians = {label: median(one[collective][place]) for label, one in found.items()}
                ours = medians.pop("tuned, on MPICH")
                openmpi = medians.pop("Open MPI", np.inf)
                mpich = min(medians.values())
                ratio = f"**{min(mpich, openmpi) / ours:.2f}**"
                size = f"{8 * length / 1e6:g} MB"
                table.add(network, collective, size, mpich, openmpi, ours, ratio)
    table.write()


if __name__ == "__main__":
    command(NETWORKS, inside, measured, write)
