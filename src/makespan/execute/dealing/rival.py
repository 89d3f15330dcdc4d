"""What an engine's own map would have taken for the items of a run, by what each of them took."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Floats

MOST_TASKS = 5_000  # that are looked at one by one; of more, neighbours are one
WORTH_MEASURING = 4.0  # seconds of a run, after which some tasks are run that do nothing
PROBES = 4  # of these for each slot
LONGEST = 0.2  # seconds that they may take, a twentieth of that
CHUNKS = 16, 64, 256  # that one would try for a function that takes batches


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnMap:
    """An engine's own map: what it is called, and how it deals items out."""

    name: str  # as one would write it
    pieces: int = 0  # into how many tasks for each slot it cuts the items; 0: each item is one
    in_turn: bool = False  # tasks go to workers in turn, not to whoever is idle
    overhead: float | None = None  # seconds that a worker loses with each task; None: not measured

    def seconds(self, took: Floats, slots: Sequence[float], batched: bool) -> Rival | None:
        """Return between which seconds it ends, and the number of tasks; None: nobody knows.

        ``took`` are the seconds of each item, ``slots`` the speed of each thread, 1 on average.
        Where the function takes batches, the best of :data:`CHUNKS` counts.
        """
        if self.overhead is None or not len(took) or not slots:
            return None
        if batched:
            counts = [min(count, len(took)) for count in CHUNKS]
        else:
            counts = [min(len(took), self.pieces * len(slots)) if self.pieces else len(took)]
        found = [self._of(took, slots, count) for count in dict.fromkeys(counts)]
        return min(found, key=lambda one: one.high)

    def _of(self, took: Floats, slots: Sequence[float], tasks: int) -> Rival:
        assert self.overhead is not None
        size = math.ceil(len(took) / tasks)
        tasks = math.ceil(len(took) / size)
        seconds = np.add.reduceat(took, np.arange(0, len(took), size))
        group = math.ceil(tasks / MOST_TASKS)
        grouped = np.add.reduceat(seconds, np.arange(0, tasks, group))
        low = makespan_of(grouped, slots, in_turn=self.in_turn)
        with_overhead = grouped + group * self.overhead
        high = makespan_of(with_overhead, slots, in_turn=self.in_turn)
        return Rival(low=low, high=high, tasks=tasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """Between which seconds another way ends, in how many tasks."""

    low: float
    high: float
    tasks: int


def makespan_of(seconds: Floats, slots: Sequence[float], *, in_turn: bool) -> float:
    """Return when tasks end that are taken in their order: by whoever is idle, or in turn.

    List scheduling (R. L. Graham, Bounds on multiprocessing timing anomalies, SIAM Journal on
    Applied Mathematics 17, 1969).

    >>> tasks = np.array([3.0, 1.0, 1.0, 1.0])
    >>> makespan_of(tasks, [1.0, 1.0], in_turn=False), makespan_of(tasks, [1.0, 1.0], in_turn=True)
    (3.0, 4.0)
    """
    if in_turn:
        return max(
            float(seconds[place :: len(slots)].sum()) / speed for place, speed in enumerate(slots)
        )
    free = [(0.0, place) for place in range(len(slots))]
    for each in seconds.tolist():
        begun, place = free[0]
        heapq.heapreplace(free, (begun + each / slots[place], place))
    return max(free)[0]
