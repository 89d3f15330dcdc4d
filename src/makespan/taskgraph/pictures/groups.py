"""What tells tasks apart in pictures: type, level, machine or cluster, and the longest path."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from makespan.core.errors import InputError
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.numeric.arrays import Integers
from makespan.core.picture import Groups
from makespan.core.schedule import Activity, Schedule
from makespan.drawing.text import short
from makespan.taskgraph.clustering import clustering_of
from makespan.taskgraph.levels import levels, weights
from makespan.taskgraph.problem import TaskGraph

CHART = "chart"  # the way of Gantt charts, for pictures beside them
WAYS = ("type", "level", "path", "machine", "cluster")
MOST_TYPES = 16
MOST_NAMED = 100_000  # tasks up to which their names are looked through for types
HASH = re.compile(r"-[0-9a-f]{8}(?:(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]*)")
"""What tells the keys of Dask collections apart, and those of delayed calls."""
NUMBERS = re.compile(r"[-_.\s\[(]*(?:ID)?\d[\d.,_\s\])-]*$")  # what tells tasks of one type apart


def groups(
    problem: TaskGraph, schedule: Schedule | None, by: str | None, details: Mapping[str, Any]
) -> Groups | None:
    """Return the groups of the tasks that colours show; by machine for plans, else by type, by
    default.

    ``by`` is ``"type"``: what is left of the names without their numbers; ``"level"``: the longest
    path to an exit task, in mean seconds; ``"path"``: whether on the longest path (of a plan: on
    its dominant sequence); ``"machine"``; ``"cluster"``, which the ``details`` of the result hold.
    Raises InputError if there is no such way, or nothing known of it.
    """
    if by is None:
        return types_of(problem) if schedule is None else _machines(problem, schedule)
    if by == CHART:
        return charted(problem)
    if by == "type":
        return types_of(problem, forced=True)
    if by == "level":
        return levels_of(problem)
    if by == "path":
        on = np.zeros(len(problem.dag), dtype=np.int64)
        path = longest_path(problem) if schedule is None else dominant_sequence(problem, schedule)
        on[path] = 1
        names = ("other tasks", "longest path" if schedule is None else "dominant sequence")
        return Groups(on, names, ordered=True)
    if by == "machine" and schedule is not None:
        return _machines(problem, schedule)
    if by == "cluster" and "clusters" in details:
        return _clusters(problem, details["clusters"])
    if by not in WAYS:
        raise InputError(
            f"by: {by!r} is not a way to tell tasks apart{did_you_mean(by, WAYS)}; "
            f"it is one of {', '.join(WAYS)}"
        )
    missing = "a plan" if by == "machine" else "the result of a clustering method"
    raise InputError(f"by: {by!r} needs {missing}")


def charted(problem: TaskGraph) -> Groups:
    """Return the groups that a Gantt chart shows: types, or else levels."""
    return types_of(problem) or levels_of(problem)


def types_of(problem: TaskGraph, *, forced: bool = False) -> Groups | None:
    """Return the types of the tasks; None where they tell nothing, unless ``forced``."""
    if len(problem.dag) > MOST_NAMED and not forced:
        return None
    words = [NUMBERS.sub("", HASH.sub("", name)) or name for name in problem.dag.names]
    names = {word: index for index, word in enumerate(dict.fromkeys(words))}
    if not forced and not 1 < len(names) <= min(MOST_TYPES, len(words) // 2):
        return None
    return Groups(np.array([names[word] for word in words], dtype=np.int64), tuple(names))


def levels_of(problem: TaskGraph) -> Groups:
    """Return the levels of the tasks, the highest last."""
    level = levels(problem.dag, *weights(problem))
    values, of = np.unique(np.round(level, 9), return_inverse=True)
    names = tuple(f"level {short(value)}" for value in values.tolist())
    return Groups(of.ravel().astype(np.int64), names, ordered=True)


def _machines(problem: TaskGraph, schedule: Schedule) -> Groups:
    rows = first_rows(problem, schedule)
    return Groups(np.where(rows >= 0, schedule.machine[rows], -1), problem.machines)


def _clusters(problem: TaskGraph, clusters: Any) -> Groups:
    of = np.full(len(problem.dag), -1, dtype=np.int64)
    for index, tasks in enumerate(clusters):
        of[[problem.task_named(task) for task in tasks]] = index
    return Groups(of, tuple(f"cluster {index + 1}" for index in range(len(clusters))))


def longest_path(problem: TaskGraph) -> list[int]:
    """Return the tasks of the longest path of the graph, every task on a machine of its own."""
    dag = problem.dag
    return list(clustering_of(dag, *weights(problem), range(len(dag))).dominant_sequence)


def dominant_sequence(problem: TaskGraph, schedule: Schedule) -> list[int]:
    """Return the tasks that the makespan of a plan follows from, one after another.

    Before each stands the one it waited for: the last of those whose data it needs, and of those
    before it on its machine. Complexity: O(n log n + e).
    """
    rows = schedule.rows_of(Activity.COMPUTE)
    if not len(rows):
        return []
    waits = _Waits(problem, schedule, rows)
    row = int(rows[np.argmax(schedule.end[rows])])
    chain = [row]
    while True:
        before = [each for each in waits.for_(row) if each[2] >= 0 and each[2] not in chain]
        if not before:
            return [int(schedule.item[each]) for each in reversed(chain)]
        row = max(before)[2]
        chain.append(row)


class _Waits:
    """What each execution of a task waited for, and until when."""

    def __init__(self, problem: TaskGraph, schedule: Schedule, rows: Integers) -> None:
        self._dag, self._delays = problem.dag, problem.network.routing.delay
        self._schedule, self._arrivals = schedule, _Arrivals(schedule)
        self._by_end = rows[np.lexsort((schedule.end[rows], schedule.machine[rows]))]
        self._machine = schedule.machine[self._by_end]
        self._first = first_rows(problem, schedule).tolist()
        pairs = zip(schedule.item[rows].tolist(), schedule.machine[rows].tolist(), strict=True)
        self._row_on = dict(zip(pairs, rows.tolist(), strict=True))

    def for_(self, row: int) -> Iterator[tuple[float, bool, int]]:
        """Yield until when, whether for data, and for which other execution."""
        dag, schedule = self._dag, self._schedule
        task, here = int(schedule.item[row]), int(schedule.machine[row])
        for edge in dag.in_edges[dag.first_in[task] : dag.first_in[task + 1]].tolist():
            source = int(dag.source[edge])
            arrival = self._arrivals.at(edge, here)
            if arrival is not None:
                when, start = arrival
                until = when + float(self._delays[start, here])
                yield until, True, self._row_on.get((source, start), -1)
            else:
                own = self._row_on.get((source, here), self._first[source])
                yield float(schedule.end[own]), True, own
        low, high = np.searchsorted(self._machine, [here, here + 1]).tolist()
        begun = float(schedule.start[row]) * (1 + 1e-12)
        ends = schedule.end[self._by_end[low:high]]
        for other in self._by_end[low : low + int(np.searchsorted(ends, begun, side="right"))][-2:]:
            yield float(schedule.end[other]), False, int(other)


def first_rows(problem: TaskGraph, schedule: Schedule) -> Integers:
    """Return the row of each task, of several copies that of the first to end; -1 for none."""
    rows = schedule.rows_of(Activity.COMPUTE)
    rows = rows[np.argsort(-schedule.end[rows], kind="stable")]
    found = np.full(len(problem.dag), -1, dtype=np.int64)
    found[schedule.item[rows]] = rows
    return found


class _Arrivals:
    """Where the data of edges come from, and when they are there."""

    def __init__(self, schedule: Schedule) -> None:
        hops = schedule.rows_of(Activity.TRANSFER)
        self._schedule = schedule
        self._hops = hops[np.lexsort((schedule.start[hops], schedule.item[hops]))]
        self._edges = schedule.item[self._hops]

    def at(self, edge: int, machine: int) -> tuple[float, int] | None:
        """Return when the data of an edge end their last hop to a machine, and where they began."""
        first, last = np.searchsorted(self._edges, [edge, edge + 1])
        found, origin = None, dict[int, int]()
        for row in self._hops[first:last].tolist():
            start, goal = int(self._schedule.machine[row]), int(self._schedule.peer[row])
            origin[goal] = origin.get(start, start)
            if goal == machine:
                found = float(self._schedule.end[row]), origin[goal]
        return found
