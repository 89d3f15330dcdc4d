"""What tells tasks apart in pictures: type, level, machine or cluster, and the longest path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from makespan.core.diagram import Groups
from makespan.core.errors import InputError
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.schedule import Activity, Schedule
from makespan.drawing.text import short
from makespan.taskgraph.clustering.clusters import clustering_of
from makespan.taskgraph.placing.levels import levels, weights
from makespan.taskgraph.problem import TaskGraph

WAYS = ("type", "level", "path", "machine", "cluster")
MOST_TYPES = 16
MOST_NAMED = 100_000
"""Tasks up to which their names are looked through for types."""
HASH = re.compile(r"-[0-9a-f]{8,}")
"""What tells the keys of Dask collections apart."""
NUMBERS = re.compile(r"[-_.\s\[(]*(?:ID)?\d[\d.,_\s\])-]*$")
"""What tells tasks of one type apart."""


def groups(
    problem: TaskGraph,
    schedule: Schedule | None,
    by: str | None,
    details: Mapping[str, Any],
) -> Groups | None:
    """Return the groups of the tasks that colours show.

    Parameters
    ----------
    by
        ``"type"``: what is left of the names without their numbers; ``"level"``: the longest path
        to an exit task, in mean seconds; ``"path"``: whether on the longest path (of a plan: on
        its dominant sequence); ``"machine"``; ``"cluster"``. None: machines of a plan, else types.
    details
        Those of the result, which hold the clusters.

    Raises
    ------
    InputError
        If there is no such way, or nothing known of it.
    """
    if by is None:
        return types_of(problem) if schedule is None else _machines(problem, schedule)
    if by == "type":
        return types_of(problem, forced=True)
    if by == "level":
        return levels_of(problem)
    if by == "path":
        on = np.zeros(len(problem.dag), dtype=bool)
        on[longest_path(problem) if schedule is None else dominant_sequence(problem, schedule)] = (
            True
        )
        names = ("other tasks", "longest path" if schedule is None else "dominant sequence")
        return Groups(on.astype(np.int64), names, ordered=True)
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
    rows = schedule.rows_of(Activity.COMPUTE)
    of = np.full(len(problem.dag), -1, dtype=np.int64)
    last = rows[np.argsort(-schedule.end[rows], kind="stable")]  # the first to end counts
    of[schedule.item[last]] = schedule.machine[last]
    return Groups(of, problem.machines)


def _clusters(problem: TaskGraph, clusters: Any) -> Groups:
    of = np.full(len(problem.dag), -1, dtype=np.int64)
    for index, tasks in enumerate(clusters):
        of[[problem.task_named(task) for task in tasks]] = index
    return Groups(of, tuple(f"cluster {index + 1}" for index in range(len(clusters))))


def longest_path(problem: TaskGraph) -> list[int]:
    """Return the tasks of the longest path of the graph, every task on a machine of its own."""
    dag = problem.dag
    found = clustering_of(dag, *weights(problem), range(len(dag)))
    return list(found.dominant_sequence)


def dominant_sequence(problem: TaskGraph, schedule: Schedule) -> list[int]:
    """Return the tasks that the makespan of a plan follows from, one after another.

    Before each stands the one it waited for: the last of those whose data it needs, and of those
    before it on its machine.

    Complexity: O(n log n + e).
    """
    dag, delays = problem.dag, problem.network.routing.delay
    rows = schedule.rows_of(Activity.COMPUTE)
    if not len(rows):
        return []
    arrival = _arrivals(problem, schedule)
    by_end = rows[np.lexsort((schedule.end[rows], schedule.machine[rows]))]
    machine, end = schedule.machine[by_end], schedule.end[by_end]
    first_end = np.full(len(dag), np.inf)
    np.minimum.at(first_end, schedule.item[rows], schedule.end[rows])
    row_on = {
        (task, at): row
        for task, at, row in zip(
            schedule.item[rows].tolist(),
            schedule.machine[rows].tolist(),
            rows.tolist(),
            strict=True,
        )
    }
    row = int(rows[np.argmax(schedule.end[rows])])
    chain = [int(schedule.item[row])]
    seen = {row}
    while True:
        task, here, start = int(schedule.item[row]), int(schedule.machine[row]), schedule.start[row]
        candidates: list[tuple[float, int, int]] = []
        for edge in dag.in_edges[dag.first_in[task] : dag.first_in[task + 1]].tolist():
            source = int(dag.source[edge])
            if (edge, here) in arrival:
                when, before = arrival[edge, here]
                when += float(delays[before, here])
                candidates.append((when, 1, row_on.get((source, before), -1)))
            elif (source, here) in row_on:
                candidates.append(
                    (float(schedule.end[row_on[source, here]]), 1, row_on[source, here])
                )
            else:
                copies = [r for (t, _), r in row_on.items() if t == source]
                candidates.append(
                    (float(first_end[source]), 1, min(copies, key=lambda r: schedule.end[r]))
                )
        low, high = np.searchsorted(machine, [here, here + 1])
        place = low + int(np.searchsorted(end[low:high], start * (1 + 1e-12), side="right")) - 1
        while place >= low and int(by_end[place]) in seen:
            place -= 1
        if place >= low:
            candidates.append((float(end[place]), 0, int(by_end[place])))
        candidates = [each for each in candidates if each[2] >= 0 and each[2] not in seen]
        if not candidates:
            return chain[::-1]
        row = max(candidates)[2]
        seen.add(row)
        chain.append(int(schedule.item[row]))


def _arrivals(problem: TaskGraph, schedule: Schedule) -> dict[tuple[int, int], tuple[float, int]]:
    """Return when the data of each edge end their last hop to a machine, and where they began."""
    hops = schedule.rows_of(Activity.TRANSFER)
    hops = hops[np.argsort(schedule.start[hops], kind="stable")]
    begun: dict[tuple[int, int], int] = {}
    found = {}
    for edge, start, goal, end in zip(
        schedule.item[hops].tolist(),
        schedule.machine[hops].tolist(),
        schedule.peer[hops].tolist(),
        schedule.end[hops].tolist(),
        strict=True,
    ):
        begun[edge, goal] = begun.get((edge, start), start)
        found[edge, goal] = (end, begun[edge, goal])
    return found
