"""How far the clock of every rank is ahead of that of rank 0."""

from __future__ import annotations

import math
from typing import Any

from makespan.execute.mpi.world import ROOT, mpi, rest_until_all

EXCHANGES = 20


def clocks_ahead(comm: Any) -> list[float]:
    """Return, on every rank, the seconds by which each rank's clock is ahead of rank 0's.

    Rank 0 asks each rank for its time; the answer lies between question and reply. The offsets
    that all exchanges allow form an interval, of which the middle is taken; clocks whose interval
    holds 0 count as one clock (as the clocks of one computer are).
    """
    clock = mpi().Wtime
    ahead = [0.0] * comm.size
    for rank in range(1, comm.size):
        if comm.rank == ROOT:
            low, high = -math.inf, math.inf
            for _ in range(EXCHANGES):
                asked = clock()
                comm.send(None, dest=rank)
                told = comm.recv(source=rank)
                low, high = max(low, told - clock()), min(high, told - asked)
            ahead[rank] = 0.0 if low <= 0.0 <= high else (low + high) / 2
        elif comm.rank == rank:
            for _ in range(EXCHANGES):
                comm.recv(source=ROOT)
                comm.send(clock(), dest=ROOT)
        rest_until_all(comm)
    shared: list[float] = comm.bcast(ahead, root=ROOT)
    return shared
