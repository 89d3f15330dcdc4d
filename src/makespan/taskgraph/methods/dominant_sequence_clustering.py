"""Dominant sequence clustering: shorten the longest path of the scheduled graph step by step.

A task is free when all its predecessors have been examined, partially free when some have. The
start of a task is the longest path up to it (its *top level*), its level the longest path from
it, and the sum of both its priority: the longest path through it, which is the dominant sequence
for the first.

Source: Yang and Gerasoulis 1994, section 4.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.solution import Solution
from makespan.core.steps import Step, number
from makespan.taskgraph.clustering import clustering_of, clustering_seconds
from makespan.taskgraph.clustering.mapping import planned
from makespan.taskgraph.levels import levels, weights
from makespan.taskgraph.list_scheduling.assigned import cannot_end, fallback_plan
from makespan.taskgraph.list_scheduling.steps import Steps, braced
from makespan.taskgraph.model.dag import Dag, rows_of
from makespan.taskgraph.needs import NO_GIVEN_PLAN, SINGLE_CORES, by_tries
from makespan.taskgraph.problem import TaskGraph


@by_tries(
    name="dominant-sequence-clustering",
    needs=(NO_GIVEN_PLAN, SINGLE_CORES),
    complexity="O((n + e) log n)",
    source="Yang and Gerasoulis 1994",
)
def dominant_sequence_clustering(
    problem: TaskGraph, control: Control, *, w1: float | None = None, w2: float | None = None
) -> Solution:
    """The free task on the longest path joins the cluster from which its latest data come.

    It joins only if that starts it earlier than alone. Predecessors that nothing else waits for
    move there with it as long as its start falls. It joins no cluster where a task on a longer
    path, some of whose predecessors are still to come, would lose the start that it can gain.

    The tasks of a cluster follow one another as they started here. No parallel time is above
    that of every task for itself; forks and joins reach the optimum of any number of machines.
    Then clusters are merged until there are as few as machines, mapped, and ordered: by level
    where some were merged.
    """
    dag, steps = problem.dag, Steps(control)
    task, edge = weights(problem, w1, w2)
    if cannot_end(problem, control):
        return Solution(schedule=fallback_plan(problem, control))
    search = Search(dag, task, edge)
    with control.reserving(2 * clustering_seconds(dag)):
        for each in search.run():
            if control.expired():
                return Solution(schedule=fallback_plan(problem, control))
            if steps.wanted:
                _log(problem, steps, search, each)
    earliest = -np.array(search.start)
    clustering = clustering_of(dag, task, edge, search.cluster, priority=earliest)
    return planned(problem, control, steps, clustering, (task, edge), priority=earliest)


def _log(problem: TaskGraph, steps: Steps, search: Search, step: Examined) -> None:
    names = problem.dag.names
    name, start = names[step.task], search.start[step.task]
    cluster = problem.named(search.members(search.cluster[step.task]))
    moved = problem.named(step.moved)
    what = f"joins {braced(cluster)}" if step.joined else "begins a cluster"
    if moved:
        what += f" with {' '.join(moved)}"
    if step.reserved_for is not None:
        what += f" (not to delay {names[step.reserved_for]}, on a longer path)"
    text = f"{name} on a path of length {number(step.length)} {what}, starts at {number(start)}"
    together = (step.task, *step.moved)
    shown = Step(
        text=text,
        cells={
            "task": name, "path": step.length, "cluster": " ".join(cluster) if step.joined else "",
            "start": start,
        },
        items={"examined": (step.task,)},
        edges=_zeroed(problem, search, step.task),
        groups={each: int(search.cluster[each]) for each in together},
        values={"longest path": step.length},
    )  # fmt: skip
    steps.add(
        shown,
        task=name, joined=step.joined, cluster=cluster, moved=moved, start=start,
        length=step.length,
    )  # fmt: skip


def _zeroed(problem: TaskGraph, search: Search, task: int) -> dict[str, tuple[int, ...]]:
    """Return the edges into a task from its own cluster."""
    dag = problem.dag
    incoming = dag.in_edges[dag.first_in[task] : dag.first_in[task + 1]].tolist()
    own = search.cluster[task]
    return {"zeroed": tuple(e for e in incoming if search.cluster[dag.source[e]] == own)}


class Examined(NamedTuple):
    """What was decided on a task.

    ``length`` is the longest path through it before, ``moved`` the predecessors that came along
    into the cluster that it joined, ``reserved_for`` the task for whose sake it joined none.
    """

    task: int
    length: float
    joined: bool
    moved: tuple[int, ...] = ()
    reserved_for: int | None = None


class Reduction(NamedTuple):
    """The earliest start of a task in the cluster ``home``, predecessors moved there included."""

    start: float
    home: int
    moved: tuple[int, ...]


class Search:
    """Examines task after task. ``start`` and ``cluster`` hold what has been decided.

    Before a task is examined its start is the latest arrival from examined predecessors.

    >>> dag = Dag({"a": 2.0, "b": 3.0}, [("a", "b", 4.0)])
    >>> search = Search(dag, dag.work, dag.size)
    >>> [step.joined for step in search.run()], search.cluster, search.start
    ([False, True], [0, 0], [0.0, 2.0])
    """

    def __init__(self, dag: Dag, task: Floats, edge: Floats) -> None:
        count = len(dag)
        self.weight, self._edge = task.tolist(), edge.tolist()
        self.level = levels(dag, task, edge).tolist()
        self.cluster = list(range(count))
        self.start = [0.0] * count
        self._finish = [0.0] * count  # of clusters
        self._members: dict[int, list[int]] = {}  # in order; the moved remain
        self._latest_from = [-1] * count  # the cluster from which the latest arrival comes
        self._second = [0.0] * count  # the latest arrival from any other cluster
        self._source, self._target = dag.source.tolist(), dag.target.tolist()
        self._in = rows_of(dag.first_in, dag.in_edges)  # the edges to each task
        self._out = rows_of(dag.first_out, dag.out_edges)
        self._waiting = np.diff(dag.first_in).tolist()
        self._free = [(-self.level[each], each) for each in range(count) if not self._waiting[each]]
        heapq.heapify(self._free)
        self._partly: list[tuple[float, int]] = []  # outdated entries stay until they lead

    def members(self, cluster: int) -> list[int]:
        """Return the tasks of a cluster so far."""
        tasks = self._members.get(cluster, ())
        return sorted(each for each in tasks if self.cluster[each] == cluster)

    def run(self) -> Iterator[Examined]:
        """Examine every task: always the free one of highest priority, the lowest on ties."""
        while self._free:
            key, task = heapq.heappop(self._free)
            found = self._minimised(task) if self._in[task] else None
            blocked = None
            if found is not None:
                longer = self._longer_partly_free(-key)
                end = found.start + self.weight[task]
                if longer is not None and self._delays(longer, found.home, end):
                    found, blocked = None, longer
            self._place(task, found)
            self._release(task)
            yield Examined(task, -key, found is not None, found.moved if found else (), blocked)

    def _minimised(self, task: int) -> Reduction | None:
        """Return how zeroing incoming edges starts ``task`` earliest; None if none starts it
        earlier.

        Edges are zeroed from the latest arrival on. The first gives the cluster; a predecessor
        elsewhere is moved there, after those that are there, if ``task`` is all that follows it.
        The more are moved, the later is the cluster ready and the earlier the first edge left
        arrives: halving finds where they cross (the paper's minimization procedure).
        """
        arrival = {self._source[each]: self._arrival(each) for each in self._in[task]}
        order = sorted(arrival, key=lambda source: (-arrival[source], source))
        home = self.cluster[order[0]]
        others = [source for source in order if self.cluster[source] != home]
        left = [*(arrival[source] for source in others), 0.0]
        movable = 0
        while movable < len(others) and len(self._out[others[movable]]) == 1:
            movable += 1
        ready = sorted((self._ready_in(home, others[rank]), others[rank], rank)
                       for rank in range(movable))  # fmt: skip
        low, high = 0, movable
        while low < high:
            middle = (low + high) // 2
            if self._finish_with(home, ready, middle) < left[middle]:
                low = middle + 1
            else:
                high = middle
        start, count = min(
            (max(self._finish_with(home, ready, each), left[each]), each)
            for each in range(max(low - 1, 0), low + 1)
        )
        if start >= self.start[task]:
            return None
        return Reduction(start, home, tuple(each for _, each, rank in ready if rank < count))

    def _arrival(self, edge: int) -> float:
        return self._end(self._source[edge]) + float(self._edge[edge])

    def _end(self, task: int) -> float:
        return float(self.start[task] + self.weight[task])

    def _ready_in(self, home: int, task: int) -> float:
        """Return when the data of an examined task would be in the cluster ``home``."""
        return max(
            (
                self._end(source) if self.cluster[source] == home else self._arrival(edge)
                for edge in self._in[task]
                for source in (self._source[edge],)
            ),
            default=0.0,
        )

    def _finish_with(self, home: int, ready: list[tuple[float, int, int]], count: int) -> float:
        """Return when ``home`` is done with the first ``count`` moved tasks after its own."""
        finish = self._finish[home]
        for begin, task, rank in ready:
            if rank < count:
                finish = max(finish, begin) + self.weight[task]
        return finish

    def _longer_partly_free(self, priority: float) -> int | None:
        """Return the partially free task of highest priority, if that is above ``priority``."""
        while self._partly:
            key, task = self._partly[0]
            if self._waiting[task] and -key == self.start[task] + self.level[task]:
                return task if -key > priority else None
            heapq.heappop(self._partly)
        return None

    def _delays(self, longer: int, home: int, end: float) -> bool:
        """Whether a cluster that ends at ``end`` would spoil the start that ``longer`` can gain
        there (the paper's dominant sequence reduction warranty).
        """
        if self._latest_from[longer] != home:
            return False
        now = max(self._finish[home], self._second[longer])
        return now < self.start[longer] and end > now

    def _place(self, task: int, found: Reduction | None) -> None:
        """Put a task, and what moves along, into its cluster."""
        if found is None:
            self._append(task, task, self.start[task])
            return
        for each in found.moved:
            old = self.cluster[each]
            self._append(each, found.home, self._ready_in(found.home, each))
            members = self._members.get(old, [])  # it ends with the last task still in it
            while members and self.cluster[members[-1]] != old:
                members.pop()
            self._finish[old] = self._end(members[-1]) if members else 0.0
        self._append(task, found.home, found.start)

    def _append(self, task: int, cluster: int, begin: float) -> None:
        self.cluster[task] = cluster
        self.start[task] = max(begin, self._finish[cluster])
        self._finish[cluster] = self._end(task)
        self._members.setdefault(cluster, []).append(task)

    def _release(self, task: int) -> None:
        """Tell the successors of an examined task when its data arrive."""
        home = self.cluster[task]
        for edge in self._out[task]:
            target, arrival = self._target[edge], self._arrival(edge)
            if home == self._latest_from[target]:
                self.start[target] = max(self.start[target], arrival)
            elif arrival > self.start[target]:
                self._second[target] = self.start[target]
                self.start[target], self._latest_from[target] = arrival, home
            else:
                self._second[target] = max(self._second[target], arrival)
            self._waiting[target] -= 1
            entry = (-(self.start[target] + self.level[target]), target)
            heapq.heappush(self._partly if self._waiting[target] else self._free, entry)
