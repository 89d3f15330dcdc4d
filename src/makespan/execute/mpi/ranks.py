"""One rank at work: it posts its receives, then takes the steps of its table."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from makespan.core.numeric.arrays import Floats
from makespan.execute.mpi.tables import NO_MESSAGE, Step, Table
from makespan.execute.mpi.world import ROOT, mpi, offer_core

Array = NDArray[Any]


class Rank:
    """The buffers of a rank, allocated once; :meth:`carry_out` runs its table on them.

    Parameters
    ----------
    comm
        The communicator.
    table
        What this rank does.
    own
        What this rank contributes, one-dimensional; it is never changed.
    cuts
        Where segment k begins (``cuts[k]``) and ends (``cuts[k + 1]``).
    combine
        A NumPy ufunc of two arrays, such as ``np.add``.
    from_root
        Whether the plan ends with a broadcast, so that all ranks have the result.
    """

    def __init__(
        self,
        comm: Any,
        table: Table,
        own: Array,
        cuts: list[int],
        combine: Callable[..., Any],
        from_root: bool,
    ) -> None:
        self.comm = comm
        self.table = table
        self.combine = combine
        self.own = [own[begin:end] for begin, end in pairwise(cuts)]
        self.has_result = from_root or comm.rank == ROOT
        self.result = own.copy() if self.has_result else own[:0]
        cuts_of_result = cuts if self.has_result else [0] * len(cuts)
        self.parts = [self.result[begin:end] for begin, end in pairwise(cuts_of_result)]
        self.buffers = [
            self.parts[message.segment]
            if message.final
            else np.empty_like(self.own[message.segment])
            for message in table.receives
        ]
        self.rows = np.array([step.row for step in table.steps], dtype=np.int64)
        self._wtime = mpi().Wtime
        self._sends: deque[tuple[Any, int]] = deque()

    def carry_out(self) -> tuple[Floats, Floats]:
        """Run the table once; return start and end of every step, on this rank's clock."""
        steps = self.table.steps
        start, end = np.zeros(len(steps)), np.zeros(len(steps))
        receives = [
            self.comm.Irecv(buffer, source=message.source)
            for buffer, message in zip(self.buffers, self.table.receives, strict=True)
        ]
        held = list(self.own)
        for index, step in enumerate(steps):
            if step.message == NO_MESSAGE:
                start[index] = self._wtime()
                self._sends.append((self.comm.Isend(self._outgoing(step, held), step.peer), index))
                continue
            self._await(receives[step.message], start, end)
            start[index] = self._wtime()
            if not step.final:
                self._take(step, held)
            end[index] = self._wtime() if not step.final else start[index]
        while self._sends:
            self._look_at_sends(start, end)
            offer_core()
        return start, end

    def _outgoing(self, step: Step, held: list[Array]) -> Array:
        """Return what is sent: a complete segment that was received, or what is held of it."""
        if step.final and self.comm.rank != ROOT:
            return self.parts[step.segment]
        return held[step.segment]

    def _take(self, step: Step, held: list[Array]) -> None:
        """Combine a message into what is held; the first one needs no copy of the own segment."""
        received = self.buffers[step.message]
        out = self.parts[step.segment] if self.comm.rank == ROOT else received
        self.combine(held[step.segment], received, out=out)
        held[step.segment] = out

    def _look_at_sends(self, start: Floats, end: Floats) -> None:
        """Note which sends have ended; on the port, the next begins then."""
        while self._sends and self._sends[0][0].Test():
            _, index = self._sends.popleft()
            end[index] = self._wtime()
            if self._sends:
                following = self._sends[0][1]
                start[following] = max(start[following], end[index])

    def _await(self, receive: Any, start: Floats, end: Floats) -> None:
        """Wait for a message, noting meanwhile which sends have ended."""
        while not receive.Test():
            self._look_at_sends(start, end)
            offer_core()
        self._look_at_sends(start, end)
