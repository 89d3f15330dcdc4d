"""Run on all ranks: rank 2 raises between two calls, while the others wait for it."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

from makespan import Reduction, solve
from makespan.execute import mpi

if __name__ == "__main__":
    comm = MPI.COMM_WORLD
    plan = solve(
        Reduction(machines=comm.size, segments=2, transfer=1, reduce=1, collective="all-reduce")
    )
    total, result = mpi.prepare(plan, comm), np.empty(10)
    total(np.ones(10), result)
    if comm.rank == 2:
        raise LookupError("on purpose")
    total(np.ones(10), result)
