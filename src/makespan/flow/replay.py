"""A run as a workflow engine makes it: tasks start as they get ready, where cores are free.

What an engine adds is in four numbers, :class:`Overheads`. A task that is ready takes its cores,
waits until its inputs have come over the one link of the engine's host, which brings those of one
task after another, is set up, and is executed.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.model.network import Network


@dataclass(frozen=True, slots=True)
class Overheads:
    """What an engine adds to a run.

    Parameters
    ----------
    startup
        Seconds before the first task and after the last, together.
    setup
        Seconds that each task holds its cores beside its own.
    dispatch
        Seconds for each task during which no other is dispatched.
    link
        The bytes a second of the link that all inputs come over.
    """

    startup: float = 0.0
    setup: float = 0.0
    dispatch: float = 0.0
    link: float = inf


class Path(NamedTuple):
    """What a moment waited for since the start-up: seconds of work, overheads, and bytes."""

    work: float = 0.0
    setups: int = 0
    dispatches: int = 0
    amount: float = 0.0


class Replay(NamedTuple):
    """When each task starts on which machine, when all have ended, and what that end waited for."""

    start: list[float]
    machine: list[int]
    end: float
    path: Path


class Engine:
    """The tasks of a graph on the machines of a network, to be run often.

    ``reads``: the bytes of the inputs of each task. ``joins``: how many tasks, the last ones, only
    wait for others: they take neither time nor cores. ``rank``: who comes first of those that are
    ready; None: who is ready first.
    """

    def __init__(
        self, dag: Dag, network: Network, reads: Sequence[float], joins: int = 0,
        rank: Sequence[float] | None = None,
    ) -> None:  # fmt: skip
        self._cores, self._free = dag.cores.tolist(), network.cores.tolist()
        self._speed = network.speed.tolist()
        self._order = sorted(range(len(network)), key=lambda machine: -self._speed[machine])
        self._work, self._reads = dag.work.tolist(), list(reads)
        self._rank, self._tasks = rank, len(dag) - joins
        self._waits = np.bincount(dag.target, minlength=len(dag)).tolist()
        self._after: list[list[int]] = [[] for _ in self._work]
        for source, target in zip(dag.source.tolist(), dag.target.tolist(), strict=True):
            self._after[source].append(target)

    def run(self, overheads: Overheads, factors: Sequence[float] | None = None) -> Replay:
        """Return what becomes of the tasks; ``factors`` multiply their seconds of work.

        Complexity: O((n + e) log n) times the machines, and more where tasks are ready that take
        more cores than are free.
        """
        free, waits = self._free.copy(), self._waits.copy()
        start, machine = [0.0] * len(waits), [0] * len(waits)
        queue: list[tuple[float, int]] = []  # of ready tasks, each with its rank
        ends: list[tuple[float, int, Path]] = []
        now = link = overheads.startup
        path = on_link = Path()
        seconds, per_byte = overheads.dispatch, 1.0 / overheads.link
        ready, seen = [task for task, before in enumerate(waits) if not before], 0
        while ready or queue or ends:
            for task in ready:
                seen += 1
                if task < self._tasks:
                    rank = seen if self._rank is None else self._rank[task]
                    heapq.heappush(queue, (rank, task))
                else:
                    heapq.heappush(ends, (now, task, path))
            wide, room = [], max(free)
            while queue and room:
                entry = heapq.heappop(queue)
                task = entry[1]
                where = next((each for each in self._order if free[each] >= self._cores[task]), -1)
                if where < 0:
                    wide.append(entry)
                    continue
                free[where] -= self._cores[task]
                room = max(free)
                if link <= now:
                    link, on_link = now, path
                if seconds or per_byte:
                    amount = self._reads[task]
                    link += seconds + per_byte * amount
                    on_link = Path(*on_link[:2], on_link.dispatches + 1, on_link.amount + amount)
                work = self._work[task] / self._speed[where] * (factors[task] if factors else 1.0)
                start[task], machine[task] = link, where
                end = link + overheads.setup + work
                own = Path(on_link.work + work, on_link.setups + 1, *on_link[2:])
                heapq.heappush(ends, (end, task, own))
            for entry in wide:
                heapq.heappush(queue, entry)
            now, task, path = heapq.heappop(ends)
            if task < self._tasks:
                free[machine[task]] += self._cores[task]
            else:
                start[task] = now
            ready = self._after[task]
            for each in ready:
                waits[each] -= 1
            ready = [each for each in ready if not waits[each]]
        return Replay(start, machine, now, path)
