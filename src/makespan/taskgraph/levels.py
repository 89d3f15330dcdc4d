"""Weights of tasks and edges, the longest paths that follow from them, and the earliest starts."""

from collections.abc import Sequence
from heapq import heappop, heappush

import numpy as np

from makespan.core.errors import MethodError
from makespan.core.inputs.rules import Rule, refusal
from makespan.core.network.routing import is_uniform
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import inverse, sorted_by
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.model.loops import graph_loop
from makespan.taskgraph.problem import TaskGraph


def weights(
    problem: TaskGraph, w1: float | None = None, w2: float | None = None
) -> tuple[Floats, Floats]:
    """Return what tasks and edges count on a path, given the weights of a unit of work and of data.

    By default a task counts its mean seconds over the machines that can execute it, and an edge
    over the pairs of different machines; on machines and links of speed 1 without set-ups, 1 is the
    same. Source: PB165, "Priority pro plánování seznamem": the length of a path is ``w1 Σ p_j + w2
    Σ size``. Raises MethodError if a weight is not a number, or negative.
    """
    dag, network = problem.dag, problem.network
    for name, weight in (("w1", w1), ("w2", w2)):
        text = None if weight is None else refusal(weight, Rule("a weight is 0 or more"))
        if text is not None:
            raise MethodError(f"{name}: {text}")
    if w1 is None:
        task = dag.work * float(np.mean(1.0 / network.speed)) + float(network.task_setup.mean())
        own, seconds = problem.stated
        if len(own):
            task[own] = seconds.mean(axis=1, where=np.isfinite(seconds))
    else:
        task = w1 * dag.work
    if w2 is not None:
        return task, w2 * dag.size
    if len(network) < 2:
        return task, np.zeros(len(dag.size))
    routing = network.routing
    per_unit = _mean_of_pairs(routing.seconds_per_unit)
    return task, dag.size * per_unit + _mean_of_pairs(routing.fixed_seconds)


def _mean_of_pairs(table: Floats) -> float:
    """Return the mean of a table without its diagonal, exact where all entries are equal."""
    count = len(table)
    if is_uniform(table):
        return float(table[0, 1])
    return float(table[~np.eye(count, dtype=bool)].mean())


def levels(dag: Dag, task: Floats, edge: Floats, tail: Floats | None = None) -> Floats:
    """Return the longest path from each task to an exit task, both ends included.

    With a ``tail`` for each task, what is at least behind it, the path may end anywhere. Source:
    PB165, "úroveň (level)". Complexity: O(tasks + edges).

    >>> dag = Dag({"a": 2.0, "b": 3.0}, [("a", "b", 4.0)])
    >>> levels(dag, dag.work, dag.size).tolist()
    [9.0, 3.0]
    """
    edges = dag.first_out, dag.successors
    return longest(np.ascontiguousarray(dag.order[::-1]), *edges, task, edge[dag.out_edges], tail)


def colevels(dag: Dag, task: Floats, edge: Floats, head: Floats | None = None) -> Floats:
    """Return the longest path from an entry task to each task, both ends included.

    With a ``head`` for each task, what is at least before it, the path may begin anywhere. Source:
    PB165, "ko-úroveň (co-level)". Complexity: O(tasks + edges).

    >>> dag = Dag({"a": 2.0, "b": 3.0}, [("a", "b", 4.0)])
    >>> colevels(dag, dag.work, dag.size).tolist()
    [2.0, 9.0]
    """
    return longest(dag.order, dag.first_in, dag.predecessors, task, edge[dag.in_edges], head)


def longest(
    order: Integers, first: Integers, neighbours: Integers, task: Floats, edge: Floats,
    beyond: Floats | None,
) -> Floats:  # fmt: skip
    """Return the longest path from each task along its neighbours, as :data:`longest_paths`."""
    found, least = np.zeros(len(task)), np.zeros(len(task)) if beyond is None else beyond
    columns = order, first, neighbours, task, edge, least
    longest_paths.run(len(task) + len(edge), columns, (found,))
    return found


def tails(problem: TaskGraph) -> Floats | None:
    """Return how much sooner than the plan each task has to end; None without deadlines.

    The plan is taken to end after the longest path and all work spread over the cores, as list
    schedules of one speed do at the latest (Graham 1969).
    """
    if not problem.has_deadlines:
        return None
    task, edge = weights(problem)
    work = (task * problem.dag.cores).sum() / problem.cores.sum()
    end = levels(problem.dag, task, edge).max() + work
    return np.asarray(np.maximum(end - problem.due, 0.0))


def ranks(problem: TaskGraph, w1: float | None = None, w2: float | None = None) -> Floats:
    """Return by how much tasks are urgent: their levels, or how soon they have to end."""
    return levels(problem.dag, *weights(problem, w1, w2), tails(problem))


def by_level(dag: Dag, level: Floats | Integers) -> Integers:
    """Return the tasks by falling level, ties by lowest task, predecessors first; O(n log n)."""
    order = sorted_by(-level)
    place = inverse(order)
    return order if (place[dag.source] < place[dag.target]).all() else ready_by_level(dag, level)


def ready_by_level(dag: Dag, level: Floats | Integers) -> Integers:
    """Return the tasks as the ready one of highest level is taken, then lowest; O(n log n + e)."""
    order, ranked = np.zeros(len(dag), dtype=np.int64), sorted_by(-level)
    highest_ready.run(
        8 * len(dag) + len(dag.source),
        (dag.first_out, dag.successors, ranked, inverse(ranked)),
        (np.diff(dag.first_in), order),
    )
    return order


@graph_loop
def highest_ready(first_out, successors, ranked, rank, waiting, order):  # type: ignore[no-untyped-def]
    """Write the tasks in the order in which the ready one of lowest rank is taken.

    ``ranked`` holds the tasks by rank. ``waiting`` holds the number of predecessors of each task,
    and is used up.
    """
    ready = [value for value in range(len(order)) if waiting[ranked[value]] == 0]  # a heap: rising
    placed = 0
    while len(ready) > 0:
        first = ranked[heappop(ready)]
        order[placed] = first
        placed += 1
        for position in range(first_out[first], first_out[first + 1]):
            task = successors[position]
            waiting[task] -= 1
            if waiting[task] == 0:
                heappush(ready, rank[task])


@graph_loop
def longest_paths(order, first, neighbours, task_weight, edge_weight, least, longest):  # type: ignore[no-untyped-def]
    """Write the longest path from each task along its neighbours, both ends included.

    Beyond a task there is its ``least`` at least. ``order`` holds neighbours before those that
    they are neighbours of; ``edge_weight`` is in the order of ``neighbours``.
    """
    for index in range(len(order)):
        task = order[index]
        beyond = least[task]
        for position in range(first[task], first[task + 1]):
            beyond = max(beyond, edge_weight[position] + longest[neighbours[position]])
        longest[task] = task_weight[task] + beyond


def heads(
    order: Sequence[int],
    before: Sequence[Sequence[int]],
    least: Integers,
    cores: int,
    area: Integers | None = None,
) -> tuple[Integers, list[int]]:
    """Return the earliest start of each task, and the tasks before it as bits of one integer.

    All tasks before one that can't start until ``t`` take their time on ``cores`` cores behind
    ``t``; that holds for every ``t``, and for paths. Of a graph that is turned round, these are the
    tails: what comes behind the end of each task. All tasks are in ``order``, those ``before``
    others first: these are direct predecessors. ``least`` is the least duration of each, in whole
    units, ``area`` what it takes of all cores; None: its least duration on one. Source: the
    relaxation to parallel machines of Carlier 1987, "Scheduling jobs with release dates and tails
    on identical machines to minimize makespan", proposition 1, applied to the ancestors of each
    task. Complexity: O(n² log n).

    >>> heads([0, 1, 2, 3], [[], [], [], [0, 1, 2]], np.array([2, 3, 4, 1]), 2)[0].tolist()
    [0, 0, 0, 5]
    """
    area = least if area is None else area
    found = np.zeros(len(least), dtype=np.int64)
    ancestors = np.zeros((len(least), len(least)), dtype=bool)
    for task in order:
        for each in before[task]:
            ancestors[task] |= ancestors[each]
            ancestors[task, each] = True
        earlier = np.flatnonzero(ancestors[task])
        if len(earlier):
            latest = earlier[np.argsort(-found[earlier], kind="stable")]
            work = np.cumsum(area[latest])
            path = (found[earlier] + least[earlier]).max()
            found[task] = max(path, (found[latest] - -work // cores).max())
    return found, [int.from_bytes(row.tobytes(), "big") for row in np.packbits(ancestors, axis=1)]


def heads_apart(dag: Dag, root: int, least: Integers, across: Integers) -> Integers:
    """Return the earliest starts of tasks on machines that don't execute ``root``.

    A predecessor that is not on the machine of ``root`` either begins no earlier than such tasks
    do; the data of one that is there come across. So data from ``root`` cross somewhere on each
    path that leads here. ``least``: the least duration of each task, in whole units. ``across``:
    the least time of the data of each edge between two machines. Complexity: O(n + e). The graph
    that is turned round gives the tails.

    >>> fork = Dag({"a": 2, "b": 1, "c": 1}, [("a", "b", 3), ("a", "c", 5)])
    >>> heads_apart(fork, 0, np.array([2, 1, 1]), np.array([3, 5])).tolist()[1:]
    [5, 7]
    """
    anywhere = np.zeros(len(dag), dtype=np.int64)
    here = np.zeros(len(dag), dtype=np.int64)
    for task in dag.order.tolist():
        for edge in dag.in_edges[dag.first_in[task] : dag.first_in[task + 1]].tolist():
            source = int(dag.source[edge])
            ended = anywhere[source] + least[source]
            anywhere[task] = max(anywhere[task], ended)
            late = ended + across[edge]
            if source != root:
                late = min(late, here[source] + least[source])
            here[task] = max(here[task], late)
    return here
