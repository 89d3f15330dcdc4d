"""Run on all ranks: collectives without end, in which rank 1 fails as the argument says.

Rank 0 prints the processes of all ranks first.
"""

from __future__ import annotations

import json
import os
import signal
import sys

import numpy as np
from mpi4py import MPI

from makespan import Reduction, solve
from makespan.execute import mpi

if __name__ == "__main__":
    comm = MPI.COMM_WORLD
    problem = Reduction(
        machines=comm.size, segments=2, transfer=1, reduce=1, collective="all-reduce"
    )
    total = mpi.prepare(solve(problem) if comm.rank == 0 else None, comm)
    own, result = np.ones(10), np.empty(10)
    processes = comm.gather(os.getpid())
    if comm.rank == 0:
        print(json.dumps(processes), flush=True)  # noqa: T201 - read by the test
    while True:
        for _ in range(10):
            total(own, result)
        if comm.rank == 1 and sys.argv[1] == "raise":
            raise LookupError("on purpose")
        if comm.rank == 1 and sys.argv[1] == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
