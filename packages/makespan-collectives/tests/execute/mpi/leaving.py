"""Run on all ranks: ten calls, of which rank 1 makes fewer as the argument says.

``exit`` and ``shared``: it ends after five, in a plan and in shared memory; ``skip``: it leaves one
out; ``normal``: all make all, and end at different times.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

from makespan import Reduction, solve
from makespan.execute import mpi
from makespan.execute.mpi.shared_memory import SharedMemory, memory_of
from makespan.execute.mpi.world import private


def made(how: str, comm: Any) -> Callable[..., None]:
    """Return what is called."""
    if how == "shared":
        memory = memory_of(private(comm))
        assert memory is not None
        return SharedMemory(memory, "all-reduce", None, np.add)
    problem = Reduction(machines=comm.size, segments=2, transfer=1, reduce=1)
    return mpi.prepare(solve(problem, method="chain") if comm.rank == 0 else None, comm)


if __name__ == "__main__":
    comm, how = MPI.COMM_WORLD, sys.argv[1]
    total, own, result = made(how, comm), np.ones(10), np.empty(10)
    for call in range(10):
        if comm.rank == 1 and call == 5 and how in ("exit", "shared"):
            sys.exit(3)
        if comm.rank == 1 and call == 5 and how == "skip":
            continue
        total(own, result)
    if how == "normal":
        assert comm.rank != 0 or (result == comm.size).all()
        time.sleep(0.3 * comm.rank)
        sys.exit(0)
