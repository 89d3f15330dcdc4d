"""Dominant sequence clustering: shorten the longest path of the scheduled graph step by step."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.result import Solution
from makespan.core.schedule import Floats
from makespan.taskgraph.clustering import clustering_of
from makespan.taskgraph.dag import Dag
from makespan.taskgraph.levels import levels, weights
from makespan.taskgraph.mapping import planned
from makespan.taskgraph.needs import NO_GIVEN_PLAN
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.steps import Steps, number


@register(
    "taskgraph",
    name="dominant-sequence-clustering",
    needs=(NO_GIVEN_PLAN,),
    complexity="O((n + e) log n)",
    source="T. Yang and A. Gerasoulis, DSC: scheduling parallel tasks on an unbounded number of "
    "processors, IEEE TPDS 5(9), 1994; each task joins one cluster, no predecessor is moved",
)
def dominant_sequence_clustering(
    problem: TaskGraph, control: Control, *, w1: float | None = None, w2: float | None = None
) -> Solution:
    """The free task on the longest path joins the cluster of a predecessor that starts it earliest.

    It joins only if it starts no later than alone, and if it does not delay a task that lies on
    a longer path but is not free yet. Then clusters are merged until there are as few as
    machines, mapped, and ordered by level.
    """
    steps = Steps(control)
    task, edge = weights(problem, w1, w2)
    search = _Search(problem.dag, task, edge)
    for each, joined in search.run():
        if steps.wanted:
            _log(problem, steps, search, each, joined)
    clustering = clustering_of(problem.dag, task, edge, search.cluster)
    return planned(problem, control, steps, clustering, (task, edge))


class _Search:
    """The state of the algorithm: ``above`` is the longest path up to a task's start."""

    def __init__(self, dag: Dag, task: Floats, edge: Floats) -> None:
        self.weight, self.edge = task.tolist(), edge.tolist()
        self.level = levels(dag, task, edge).tolist()
        count = len(dag)
        self.cluster = list(range(count))
        self.above = [0.0] * count
        self.finish = [0.0] * count  # of clusters
        self._source, self._target = dag.source.tolist(), dag.target.tolist()
        first_in, in_edges = dag.first_in.tolist(), dag.in_edges.tolist()
        first_out, out_edges = dag.first_out.tolist(), dag.out_edges.tolist()
        self._in = [in_edges[first_in[each] : first_in[each + 1]] for each in range(count)]
        self._out = [out_edges[first_out[each] : first_out[each + 1]] for each in range(count)]
        self._waiting = [len(edges) for edges in self._in]
        self._done = [False] * count
        self._free = [(-self.level[each], each) for each in range(count) if not self._in[each]]
        heapq.heapify(self._free)
        self._partly: list[tuple[float, int]] = []  # with some predecessor done; stale ones stay

    def run(self) -> Iterator[tuple[int, bool]]:
        """Examine every task; yield it, and whether it joined a cluster."""
        while self._free:
            key, task = heapq.heappop(self._free)
            blocked = self._longest_partly(-key)
            joined = self._join(task, blocked)
            self._done[task] = True
            self._release(task)
            yield task, joined

    def _longest_partly(self, priority: float) -> int | None:
        """Return the task on a longer path that waits for some predecessors, if there is one."""
        while self._partly:
            key, task = self._partly[0]
            if self._waiting[task] and -key == self.above[task] + self.level[task]:
                return task if -key > priority else None
            heapq.heappop(self._partly)
        return None

    def _join(self, task: int, blocked: int | None) -> bool:
        """Put ``task`` into the cluster that starts it earliest, if not later than alone."""
        candidates = sorted({self.cluster[self._source[edge]] for edge in self._in[task]})
        best, start = -1, self.above[task]
        for cluster in candidates:
            begin = self._start_in(task, cluster)
            better = begin < start or (begin == start and best < 0)
            if better and not self._delays(blocked, cluster, begin + self.weight[task]):
                best, start = cluster, begin
        if best >= 0:
            self.cluster[task] = best
        self.above[task] = start
        self.finish[self.cluster[task]] = start + self.weight[task]
        return best >= 0

    def _start_in(self, task: int, cluster: int) -> float:
        """Return when ``task`` would start at the end of ``cluster``, known predecessors only."""
        begin = self.finish[cluster]
        for edge in self._in[task]:
            source = self._source[edge]
            if self._done[source] and self.cluster[source] != cluster:
                begin = max(begin, self._end(source) + self.edge[edge])
        return begin

    def _delays(self, blocked: int | None, cluster: int, finish: float) -> bool:
        """Whether extending ``cluster`` to ``finish`` would take from ``blocked`` the start
        there that is earlier than alone.
        """
        if blocked is None:
            return False
        sources = [self._source[edge] for edge in self._in[blocked]]
        if not any(self._done[each] and self.cluster[each] == cluster for each in sources):
            return False
        before = self._start_in(blocked, cluster)
        return before <= self.above[blocked] and max(before, finish) > before

    def _end(self, task: int) -> float:
        return float(self.above[task] + self.weight[task])

    def _release(self, task: int) -> None:
        for edge in self._out[task]:
            target = self._target[edge]
            arrival = self._end(task) + self.edge[edge]
            self.above[target] = max(self.above[target], arrival)
            self._waiting[target] -= 1
            key = (-(self.above[target] + self.level[target]), target)
            heapq.heappush(self._partly if self._waiting[target] else self._free, key)


def _log(problem: TaskGraph, steps: Steps, search: _Search, task: int, joined: bool) -> None:
    name, start = problem.dag.names[task], search.above[task]
    members = [each for each, label in enumerate(search.cluster) if label == search.cluster[task]]
    done = problem.named(members)
    what = f"joins {{{' '.join(done)}}}" if joined else "begins a cluster"
    length = start + search.level[task]
    steps.add(
        f"{name} on a path of length {number(length)} {what}, starts at {number(start)}",
        task=name, joined=joined, cluster=done, start=start, length=length,
    )  # fmt: skip
