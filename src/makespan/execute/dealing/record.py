"""What happened when: rows of measured activities, brought onto the client's clock."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from makespan.core.schedule import Schedule
from makespan.execute.dealing.engine import Window


@dataclass(frozen=True, slots=True)
class Computation:
    """A computation on its worker's clock, and the window on the client's that it lies in."""

    worker: str
    item: int
    amount: float
    start: float
    end: float
    within: Window


class Record:
    """The activities of a run."""

    def __init__(self, machines: Sequence[str]) -> None:
        self.machines = list(machines)
        self._transfers: list[tuple[str, str, int, float, Window]] = []
        self._computed: list[Computation] = []

    def transfer(self, kind: str, worker: str, item: int, amount: float, window: Window) -> None:
        """Note a ``send`` to a worker or a ``return`` from it."""
        self._transfers.append((kind, worker, item, amount, window))

    def computed(self, computation: Computation) -> None:
        """Note a computation."""
        self._computed.append(computation)

    def schedule(self) -> Schedule:
        """Return what was measured, from the start of the first transfer."""
        workers = [worker for _, worker, *_ in self._transfers]
        machines = [*self.machines, *dict.fromkeys(w for w in workers if w not in self.machines)]
        place = {name: index for index, name in enumerate(machines)}
        zero = min((window.start for *_, window in self._transfers), default=0.0)
        ahead = clocks_ahead(self._computed)
        rows = []
        for kind, worker, item, amount, window in self._transfers:
            ends = (0, place[worker]) if kind == "send" else (place[worker], 0)
            rows.append((kind, *ends, item, amount, window.start - zero, window.end - zero))
        for one in self._computed:
            behind = ahead[one.worker] + zero
            start, end = one.start - behind, one.end - behind
            rows.append(("compute", place[one.worker], -1, one.item, one.amount, start, end))
        rows.sort(key=lambda row: (row[5], row[6]))
        return Schedule.of_rows(machines, rows)


def clocks_ahead(computed: Sequence[Computation]) -> dict[str, float]:
    """Return by how many seconds each worker's clock is ahead of the client's.

    A computation lies between its submission and the news of its end, as both the client sees
    them. The offsets that allow this for all computations of a worker form an interval; its
    middle is taken, as if both ways took equally long (as in D. Mills' network time protocol).
    Where clocks agree to within the interval's width, what is 0 there stays 0.
    """
    low: dict[str, float] = {}
    high: dict[str, float] = {}
    for one in computed:
        low[one.worker] = max(low.get(one.worker, -math.inf), one.end - one.within.end)
        high[one.worker] = min(high.get(one.worker, math.inf), one.start - one.within.start)
    return {
        worker: 0.0 if low[worker] <= 0.0 <= high[worker] else (low[worker] + high[worker]) / 2
        for worker in low
    }
