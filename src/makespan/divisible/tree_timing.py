"""Loads of a tree's nodes → start times, as early as possible."""

from __future__ import annotations

import numpy as np

from makespan.core.schedule import Activity, Floats, Schedule
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.tree import Tree


def timed_tree(
    problem: DivisibleLoad,
    amount: Floats,
    order: tuple[tuple[int, ...], ...],
    factors: Floats | None = None,
) -> Schedule:
    """Return the earliest schedule of a tree.

    Parameters
    ----------
    problem
        A problem on a tree.
    amount
        Units that each node computes.
    order
        For each node, its children in the order of service; children whose subtree gets nothing
        are left out.
    factors
        Factors on durations: of the message to each node (row 0) and of its computation (row 1).

    Complexity: O(n).
    """
    tree = problem.platform
    assert isinstance(tree, Tree)
    carried, own = subtree_loads(tree, amount).tolist(), np.asarray(amount).tolist()
    send_fixed, send = tree.send_fixed.tolist(), tree.send_per_unit.tolist()
    compute_fixed, compute = tree.compute_fixed.tolist(), tree.compute_per_unit.tolist()
    message, computation = (factors if factors is not None else np.ones((2, len(tree)))).tolist()
    rows: list[tuple[str, int, int, int, float, float, float]] = []
    arrived = [0.0] * len(tree)
    for node in tree.downwards:
        clock = arrived[node]
        for child in order[node]:
            load = carried[child]
            if load <= 0:
                continue
            seconds = send_fixed[child] + send[child] * load
            arrived[child] = clock + seconds * message[child]
            rows.append(("send", node, child, child, load, clock, arrived[child]))
            clock = arrived[child]
        load = own[node]
        if load > 0:
            begin = arrived[node]
            seconds = compute_fixed[node] + compute[node] * load
            rows.append(
                ("compute", node, -1, node, load, begin, begin + seconds * computation[node])
            )
    return Schedule.of_rows(tree.names, rows)


def subtree_loads(tree: Tree, amount: Floats) -> Floats:
    """Return the load of every node's whole subtree, units."""
    carried, parent = np.asarray(amount, dtype=np.float64).tolist(), tree.parent.tolist()
    for node in reversed(tree.downwards[1:]):
        carried[parent[node]] += carried[node]
    return np.array(carried)


def retimed_tree(
    problem: DivisibleLoad, schedule: Schedule, factors: Floats | None = None
) -> Schedule:
    """Return ``schedule`` with the same loads and orders of service, everything at its earliest.

    ``factors`` are on the durations of the rows of the schedule; None for nominal durations.
    """
    tree = problem.platform
    assert isinstance(tree, Tree)
    schedule = schedule.renamed(tree.names)
    computes = schedule.kind == Activity.COMPUTE
    amount: Floats = np.bincount(
        schedule.machine[computes], weights=schedule.amount[computes], minlength=len(tree)
    ).astype(np.float64)
    served: list[list[int]] = [[] for _ in range(len(tree))]
    for row in schedule.rows_of(Activity.SEND).tolist():
        served[int(schedule.machine[row])].append(int(schedule.peer[row]))
    by_node = None
    if factors is not None:
        by_node = np.ones((2, len(tree)))
        by_node[0, schedule.peer[~computes]] = factors[~computes]
        by_node[1, schedule.machine[computes]] = factors[computes]
    return timed_tree(problem, amount, tuple(map(tuple, served)), by_node)
