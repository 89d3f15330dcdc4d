"""Clusterings of a task graph, and the scheduled graph that follows from one.

A cluster is a set of tasks that one machine will execute. In the scheduled graph the edges inside
clusters are zeroed and the tasks of a cluster follow one another by level. Its longest path is
the dominant sequence; the length of that is the parallel time.

Source: PB165, "Naplánovaný graf úloh", corrected: paths sum w1 over the durations.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.errors import MethodError
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.binding import bind
from makespan.core.numeric.sorting import inverse
from makespan.taskgraph.levels import by_level, levels
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.model.loops import graph_loop

READINGS = ("zeroed", "original")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering:
    """A clustering with its parallel time and dominant sequence, tasks as indices.

    ``cluster`` holds the cluster of each task, numbered by their lowest tasks; ``level`` the
    levels by which the tasks of a cluster follow one another.
    """

    cluster: Integers
    parallel_time: float
    dominant_sequence: tuple[int, ...]
    level: Floats


def members_of(cluster: Integers) -> list[list[int]]:
    """Return the tasks of each cluster, where clusters are numbered from 0."""
    order = np.argsort(cluster, kind="stable")
    return [part.tolist() for part in np.split(order, np.cumsum(np.bincount(cluster))[:-1])]


SECONDS_A_STEP = 6e-7
"""What a task or an edge takes in one clustering of a large graph, the plan of it included."""


def clustering_seconds(dag: Dag) -> float:
    """Return about how many seconds one clustering takes, and the plan that follows from it."""
    return SECONDS_A_STEP * (len(dag) + len(dag.source))


class ScheduledGraph:
    """The scheduled graph of a changing clustering: at first, every task for itself.

    ``task`` and ``edge`` are what these count on a path. ``reading`` is ``"zeroed"``: levels on the
    graph with the edges inside clusters zeroed, the merge being tried included; or ``"original"``.
    About ``trials`` clusterings will be tried; many are worth a compiler. ``priority`` stands in
    for the levels, if given: the tasks of a cluster follow one another by falling priority, which
    falls along edges too.
    """

    def __init__(
        self, dag: Dag, task: Floats, edge: Floats, *,
        reading: str = "zeroed", trials: int = 1, priority: Floats | None = None,
    ) -> None:  # fmt: skip
        if reading not in READINGS:
            hint = did_you_mean(reading, READINGS)
            raise MethodError(f"levels: there is no reading {reading!r}{hint}")
        count = len(dag)
        steps = 3 * max(1, trials) * (count + len(edge))  # one is made in any case
        loop, column = parallel_time.chosen(steps)
        self._dag, self._task, self._edge, self._column = dag, task, edge, column
        original = levels(dag, task, edge) if priority is None else priority
        tie = _tie(dag, task, original) if priority is None else dag.position
        self._zeroed = reading == "zeroed" and priority is None
        self.cluster = column(np.arange(count))
        self._level = column(original)
        self._order = column(by_level(dag, original))
        self._finish = column(np.zeros(count))
        self._before = column(np.zeros(count, dtype=np.int64))
        read = {
            "topological_order": dag.order, "first_out": dag.first_out,
            "successors": dag.successors, "out_weight": edge[dag.out_edges],
            "first_in": dag.first_in, "predecessors": dag.predecessors,
            "in_weight": edge[dag.in_edges], "task_weight": task, "tie": tie,
            "original_level": original, "last": np.zeros(count, dtype=np.int64),
        }  # fmt: skip
        self._run = bind(
            loop, **{name: column(each) for name, each in read.items()}, level=self._level,
            finish=self._finish, before=self._before,
            zeroed=self._zeroed, cluster=self.cluster, order=self._order,
        )  # fmt: skip
        self._members: dict[int, list[int]] = {}  # of clusters that were merged

    def assign(self, cluster: Integers) -> None:
        """Set the clusters of all tasks at once."""
        dag, edge = self._dag, self._edge
        self.cluster[:] = self._column(cluster)
        if self._zeroed:  # sorted here, as many tasks may change places
            inside = cluster[dag.source] == cluster[dag.target]
            level = levels(dag, self._task, np.where(inside, 0.0, edge))
            self._order[:] = self._column(by_level(dag, level))

    def parallel_time(self) -> float:
        """Return the parallel time of the present clustering. Complexity: O(n + e), and sorting."""
        return float(self._run())

    def dominant_sequence(self) -> tuple[int, ...]:
        """Return the longest path at the last call of :meth:`parallel_time`."""
        task = int(np.argmax(self._finish))  # the lowest of equals
        path = [task]
        while self._before[task] >= 0:
            task = int(self._before[task])
            path.append(task)
        return tuple(path[::-1])

    def merge(self, one: int, other: int) -> tuple[int, list[int]]:
        """Put the clusters of two tasks together; return what :meth:`undo` takes."""
        kept, moved = int(self.cluster[one]), int(self.cluster[other])
        if len(self._of(kept)) < len(self._of(moved)):
            kept, moved = moved, kept
        tasks = self._of(moved)
        for task in tasks:
            self.cluster[task] = kept
        self._members[kept] = self._of(kept) + tasks
        self._members[moved] = []
        return moved, tasks

    def undo(self, merge: tuple[int, list[int]]) -> None:
        """Take the last merge back."""
        moved, tasks = merge
        kept = int(self.cluster[tasks[0]])
        self._members[kept] = self._members[kept][: -len(tasks)]
        self._members[moved] = tasks
        for task in tasks:
            self.cluster[task] = moved

    def members_of(self, task: int) -> list[int]:
        """Return the tasks in the cluster of ``task``."""
        return sorted(self._of(int(self.cluster[task])))

    def _of(self, cluster: int) -> list[int]:
        return self._members.get(cluster, [cluster])

    def clustering(self) -> Clustering:
        """Return the present clustering."""
        return Clustering(
            cluster=numbered(self.cluster),
            parallel_time=self.parallel_time(),
            dominant_sequence=self.dominant_sequence(),
            level=np.array(self._level, dtype=np.float64),
        )


def clustering_of(
    dag: Dag, task: Floats, edge: Floats, cluster: Iterable[int], *,
    reading: str = "zeroed", priority: Floats | None = None,
) -> Clustering:  # fmt: skip
    """Return the clustering given by a cluster per task, with its parallel time.

    ``reading`` and ``priority`` are those of :class:`ScheduledGraph`.

    >>> dag = Dag({"a": 2.0, "b": 3.0}, [("a", "b", 4.0)])
    >>> clustering_of(dag, dag.work, dag.size, [0, 0]).parallel_time
    5.0
    """
    graph = ScheduledGraph(dag, task, edge, reading=reading, priority=priority)
    graph.assign(numbered(list(cluster)))
    return graph.clustering()


def numbered(cluster: ArrayLike) -> Integers:
    """Return clusters renumbered from 0 in the order of their lowest tasks.

    >>> numbered([7, 3, 7]).tolist()
    [0, 1, 0]
    """
    _, first, number = np.unique(np.asarray(cluster), return_index=True, return_inverse=True)
    return np.asarray(inverse(np.argsort(first, kind="stable"))[number])


def _tie(dag: Dag, task: Floats, level: Floats) -> Integers:
    """Return what decides between equal levels: the lowest task, or a topological order where
    tasks of no weight could stand before their predecessors.
    """
    return dag.position if len(dag) and task.min() <= 1e-12 * level.max() else np.arange(len(dag))


@graph_loop
def parallel_time(  # type: ignore[no-untyped-def]
    topological_order, first_out, successors, out_weight, first_in, predecessors, in_weight,
    task_weight, tie, original_level, cluster,
    level, order, finish, before, last,
    zeroed,
):  # fmt: skip
    """Return the length of the longest path of the scheduled graph of a clustering.

    Edges inside a cluster count nothing, and the tasks of a cluster follow one another by level
    (``zeroed``: on the graph with these edges at nothing; else the original levels). ``order``
    comes in as the order of an earlier call, which makes sorting quick, and leaves as the order
    by level; ``finish`` holds the longest path to each task, ``before`` the task before it there.
    """
    count = len(order)
    for index in range(count - 1, -1, -1):
        task = topological_order[index]
        longest = 0.0
        if zeroed:
            for position in range(first_out[task], first_out[task + 1]):
                successor = successors[position]
                length = level[successor]
                if cluster[successor] != cluster[task]:
                    length += out_weight[position]
                longest = max(longest, length)
            level[task] = task_weight[task] + longest
        else:
            level[task] = original_level[task]
    for index in range(1, count):
        task = order[index]
        hole = index
        while hole > 0:
            other = order[hole - 1]
            if level[other] > level[task] or (
                level[other] == level[task] and tie[other] < tie[task]
            ):
                break
            order[hole] = other
            hole -= 1
        order[hole] = task
    for index in range(count):
        last[index] = -1
    total = 0.0
    for index in range(count):
        task = order[index]
        previous = last[cluster[task]]
        start = finish[previous] if previous >= 0 else 0.0
        for position in range(first_in[task], first_in[task + 1]):
            source = predecessors[position]
            arrival = finish[source]
            if cluster[source] != cluster[task]:
                arrival += in_weight[position]
            if arrival > start or (arrival == start and previous < 0):
                start = arrival
                previous = source
        before[task] = previous
        finish[task] = start + task_weight[task]
        last[cluster[task]] = task
        total = max(total, finish[task])
    return total
