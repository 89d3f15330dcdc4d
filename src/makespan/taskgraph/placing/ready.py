"""The queue of ready tasks, and the time that passes."""

from __future__ import annotations

import heapq

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.taskgraph.model.dag import Dag


class Ready:
    """Tasks whose predecessors have all ended, in the order of their priority.

    Parameters
    ----------
    dag
        The graph.
    *priority
        A value per task: the greatest is taken first, ties by the next column, then by lowest task.

    Attributes
    ----------
    time
        Now, seconds.
    """

    def __init__(self, dag: Dag, *priority: Floats) -> None:
        self.time = 0.0
        negated = [(-column).tolist() for column in priority]
        self._key = list(zip(*negated, range(len(dag)), strict=True))
        self._first = dag.first_out.tolist()
        self._successors = dag.successors.tolist()
        waiting = np.diff(dag.first_in).tolist()
        self._waiting = waiting
        self._running: list[tuple[float, int]] = []
        self._queue = [key for key, count in zip(self._key, waiting, strict=True) if not count]
        heapq.heapify(self._queue)

    def __bool__(self) -> bool:
        return bool(self._queue)

    @property
    def tasks(self) -> list[int]:
        """The tasks in the queue, the first first."""
        return [int(key[-1]) for key in sorted(self._queue)]

    def pop(self) -> int:
        """Take the first task from the queue."""
        return int(heapq.heappop(self._queue)[-1])

    def run_until(self, task: int, end: float) -> None:
        """Note that ``task`` will end at ``end``."""
        heapq.heappush(self._running, (end, task))

    def advance(self) -> bool:
        """Pass to the next end of a task and queue what it makes ready; False if none runs."""
        if not self._running:
            return False
        self.time = max(self.time, self._running[0][0])
        while self._running and self._running[0][0] <= self.time:
            _, task = heapq.heappop(self._running)
            for successor in self._successors[self._first[task] : self._first[task + 1]]:
                self._waiting[successor] -= 1
                if not self._waiting[successor]:
                    heapq.heappush(self._queue, self._key[successor])
        return True
