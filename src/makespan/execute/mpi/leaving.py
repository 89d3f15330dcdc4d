"""A rank that ends says how many calls it made; who waits for more of them ends all ranks."""

from __future__ import annotations

import atexit
import os
import time
from typing import Any

import numpy as np

from makespan.core.display import counted
from makespan.execute.mpi.world import attached, end_all, end_with, mpi, offer_core

LOOK_EVERY = 0.05  # seconds of waiting between two looks at who has ended


class Calls:
    """The calls on a communicator, which all ranks make in one order.

    A program's last call may end on one rank long before it does on others, and a rank may end in
    peace then. But no rank that has ended makes another call: where one is waited for that made
    fewer, by ``sys.exit`` or because it left a call out, all would wait for ever.

    Parameters
    ----------
    comm
        A communicator for nothing else.

    A context manager of each call: what fails in it on one rank ends all.
    """

    def __init__(self, comm: Any) -> None:
        self.comm, self.made = comm, 0
        self._ended: dict[int, int] = {}  # the calls of ranks that have ended
        self._look_at = 0.0
        if not _all:
            atexit.register(_ending, os.getpid())
        _all.append(self)

    def __enter__(self) -> None:
        self._look_at = time.monotonic() + LOOK_EVERY

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            end_with(self.comm, error)
        self.made += 1

    def rest(self) -> None:
        """Offer the core to others, as :func:`offer_core`; look now and then who has ended."""
        offer_core()
        if time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + LOOK_EVERY
            self.look()

    def look(self) -> None:
        """End all ranks where one has ended without this call."""
        package = mpi()
        status = package.Status()
        while self.comm.Iprobe(package.ANY_SOURCE, package.ANY_TAG, status):
            made = np.zeros(1, np.int64)
            self.comm.Recv(made, status.Get_source())
            self._ended[status.Get_source()] = int(made[0])
        for rank, calls in self._ended.items():
            if calls <= self.made:
                after = f"has ended after {counted(calls, 'call')}"
                text = f"rank {rank} {after}; rank {self.comm.rank} waits in call {self.made + 1}"
                end_all(self.comm, text, late=self.comm.rank != min({0, 1} - {rank}))

    def tell(self) -> list[Any]:
        """Tell all others that this rank has ended; return what has to be kept until MPI ends."""
        made = np.array([self.made], np.int64)
        others = (rank for rank in range(self.comm.size) if rank != self.comm.rank)
        return [made, *(self.comm.Isend(made, rank) for rank in others)]

    def free(self) -> None:
        """The communicator is freed; all ranks do this."""
        _all.remove(self)
        self.comm.Free()


_all: list[Calls] = []
_kept: list[Any] = []

calls_of = attached(lambda comm: Calls(comm.Dup()), Calls.free)
"""Return the calls on a communicator; all ranks call this."""


def _ending(process: int) -> None:
    """Called when Python ends, before MPI does; also in processes that were forked."""
    if os.getpid() == process and not _kept and not mpi().Is_finalized():
        _kept.extend(calls.tell() for calls in _all)
