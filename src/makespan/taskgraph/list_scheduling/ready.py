"""The queue of ready tasks, and the time that passes."""

from __future__ import annotations

import heapq

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.taskgraph.model.dag import Dag


class Ready:
    """Released tasks whose predecessors have all ended, in the order of their priority.

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
        self._release: list[float] = dag.release.tolist()
        negated = [(-column).tolist() for column in priority]
        self._key = list(zip(*negated, range(len(dag)), strict=True))
        self._first = dag.first_out.tolist()
        self._successors = dag.successors.tolist()
        waiting = np.diff(dag.first_in).tolist()
        self._waiting = waiting
        self._events: list[tuple[float, int]] = []  # ends of tasks; releases, of ~task
        self._queue: list[tuple[float, ...]] = []
        for task, count in enumerate(waiting):
            if not count:
                self._enter(task)

    def __bool__(self) -> bool:
        return bool(self._queue)

    @property
    def tasks(self) -> list[int]:
        """The tasks in the queue, the first first."""
        return [int(key[-1]) for key in sorted(self._queue)]

    def pop(self) -> int:
        """Take the first task from the queue."""
        return int(heapq.heappop(self._queue)[-1])

    def put_back(self, task: int) -> None:
        """Put a task that was taken into the queue again."""
        heapq.heappush(self._queue, self._key[task])

    def run_until(self, task: int, end: float) -> None:
        """Note that ``task`` will end at ``end``."""
        heapq.heappush(self._events, (end, task))

    def advance(self) -> bool:
        """Pass to the next end of a task, or release, and queue what is ready; False if none is."""
        if not self._events:
            return False
        self.time = max(self.time, self._events[0][0])
        while self._events and self._events[0][0] <= self.time:
            _, task = heapq.heappop(self._events)
            if task < 0:
                self._enter(~task)
                continue
            for successor in self._successors[self._first[task] : self._first[task + 1]]:
                self._waiting[successor] -= 1
                if not self._waiting[successor]:
                    self._enter(successor)
        return True

    def _enter(self, task: int) -> None:
        """Queue a task whose predecessors have ended, now or when it is released."""
        if self._release[task] > self.time:
            heapq.heappush(self._events, (self._release[task], ~task))
        else:
            heapq.heappush(self._queue, self._key[task])
