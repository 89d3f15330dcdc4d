"""Run on all ranks: rank 1 fails while the others wait for it."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

from makespan import Reduction, solve
from makespan.execute.mpi import ranks, run


def broken(*_: object) -> None:
    raise ZeroDivisionError("on purpose")


if __name__ == "__main__":
    comm = MPI.COMM_WORLD
    plan = solve(Reduction(machines=comm.size, segments=2, transfer=1, reduce=1), method="chain")
    if comm.rank == 1:
        ranks.Rank._combine = broken  # type: ignore[assignment]
    run(plan, np.ones(10))
