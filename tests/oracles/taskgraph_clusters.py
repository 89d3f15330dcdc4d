"""Clusterings for any number of machines: the best of all, and dominant sequences spelled out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import numpy as np

from makespan import Dag


def least_parallel_time(dag: Dag) -> float:
    """Return the least parallel time over all clusterings and all orders inside clusters."""
    count = len(dag)
    edges = list(zip(dag.source.tolist(), dag.target.tolist(), dag.size.tolist(), strict=True))
    orders = [
        order
        for order in permutations(range(count))
        if all(order.index(a) < order.index(b) for a, b, _ in edges)
    ]
    best = float("inf")
    for cluster in partitions(count):
        for order in orders:
            finish: dict[int, float] = {}
            free = dict.fromkeys(cluster, 0.0)
            for node in order:
                label = cluster[node]
                arrivals = [
                    finish[a] + (0.0 if cluster[a] == label else size)
                    for a, b, size in edges
                    if b == node
                ]
                finish[node] = max([free[label], *arrivals]) + float(dag.work[node])
                free[label] = finish[node]
            best = min(best, max(finish.values()))
    return best


def partitions(count: int) -> Iterator[tuple[int, ...]]:
    """Yield all partitions of ``count`` things, as a label for each."""
    if not count:
        yield ()
        return
    for rest in partitions(count - 1):
        for label in range(max(rest, default=-1) + 2):
            yield (*rest, label)


class DominantSequences:
    """The clustering of Yang and Gerasoulis, everything worked out anew at every step."""

    def __init__(self, dag: Dag, task: np.ndarray, edge: np.ndarray) -> None:
        self.count = len(dag)
        self.task = task.tolist()
        pairs = zip(dag.source.tolist(), dag.target.tolist(), strict=True)
        self.size = dict(zip(pairs, edge.tolist(), strict=True))
        self.start: dict[int, float] = {}  # of examined tasks
        self.clusters: dict[int, list[int]] = {}
        while len(self.start) < self.count:
            self.step()

    def before(self, node: int) -> list[int]:
        return [a for a, b in self.size if b == node]

    def after(self, node: int) -> list[int]:
        return [b for a, b in self.size if a == node]

    def level(self, node: int) -> float:
        ahead = [self.size[node, b] + self.level(b) for b in self.after(node)]
        return float(self.task[node] + max(ahead, default=0.0))

    def end(self, node: int) -> float:
        return float(self.start[node] + self.task[node])

    def finish(self, label: int) -> float:
        return max((self.end(node) for node in self.clusters.get(label, [])), default=0.0)

    def cluster(self, node: int) -> int:
        return next(label for label, nodes in self.clusters.items() if node in nodes)

    def data_in(self, node: int, label: int | None) -> float:
        """When the data of examined predecessors are in a cluster; None: in one of its own."""
        arrivals = [
            self.end(a) + (0.0 if self.cluster(a) == label else self.size[a, node])
            for a in self.before(node)
            if a in self.start
        ]
        return max(arrivals, default=0.0)

    def priority(self, node: int) -> float:
        return self.data_in(node, None) + self.level(node)

    def step(self) -> None:
        waiting = [node for node in range(self.count) if node not in self.start]
        done = {node: [a in self.start for a in self.before(node)] for node in waiting}
        free = [node for node in waiting if all(done[node])]
        partly = [node for node in waiting if any(done[node]) and not all(done[node])]
        node = max(free, key=lambda each: (self.priority(each), -each))
        longer = max(partly, key=lambda each: (self.priority(each), -each), default=None)
        if longer is not None and self.priority(longer) <= self.priority(node):
            longer = None
        self.place(node, longer)

    def place(self, node: int, longer: int | None) -> None:
        alone = self.data_in(node, None)
        choices = list(self.choices(node))
        start, _, label, moved = min(choices, default=(alone, 0, -1, ()))
        if start < alone and not self.spoils(longer, label, start + self.task[node]):
            for each, begin in moved:
                self.clusters[self.cluster(each)].remove(each)
                self.clusters[label].append(each)
                self.start[each] = begin
        else:
            start, label = alone, node
        self.clusters.setdefault(label, []).append(node)
        self.start[node] = start

    def choices(self, node: int) -> Iterator[tuple[float, int, int, tuple[tuple[int, float], ...]]]:
        """Yield start, predecessors moved, cluster, and who is moved there to start when."""
        arrival = {a: self.end(a) + self.size[a, node] for a in self.before(node)}
        if not arrival:
            return
        latest = sorted(arrival, key=lambda a: (-arrival[a], a))
        label = self.cluster(latest[0])
        others = [a for a in latest if a not in self.clusters[label]]
        for count in range(len(others) + 1):
            if any(self.after(a) != [node] for a in others[:count]):
                return
            clock, moved = self.finish(label), []
            for each in sorted(others[:count], key=lambda a: (self.data_in(a, label), a)):
                begin = max(clock, self.data_in(each, label))
                moved.append((each, begin))
                clock = begin + self.task[each]
            start = max([clock, *(arrival[a] for a in others[count:])])
            yield start, count, label, tuple(moved)

    def spoils(self, longer: int | None, label: int, end: float) -> bool:
        """Whether a task on a longer path could start earlier in a cluster, and no longer so."""
        if longer is None:
            return False
        could = max(self.finish(label), self.data_in(longer, label))
        return could < self.data_in(longer, None) and end > could
