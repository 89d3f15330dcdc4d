"""Loads of a tree's nodes → start times, as early as possible."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.plan import computed
from makespan.divisible.model.tree import Levels, Tree
from makespan.divisible.model.tree_loops import earliest
from makespan.divisible.problem import DivisibleLoad


def timed_tree(
    problem: DivisibleLoad,
    amount: Floats,
    levels: Levels | None = None,
    factors: Floats | None = None,
) -> Schedule:
    """Return the earliest schedule of a tree.

    Parameters
    ----------
    problem
        A problem on a tree.
    amount
        Units that each node computes.
    levels
        The nodes in the order of service, by link cost where it is left out; children whose
        subtree gets nothing are left out.
    factors
        Factors on durations: of the message to each node (row 0) and of its computation (row 1).

    Complexity: O(n).
    """
    tree = problem.platform
    assert isinstance(tree, Tree)
    levels = tree.levels if levels is None else levels
    count = len(tree)
    own = np.asarray(amount, dtype=np.float64)[levels.node]
    message, computation = np.ones((2, count)) if factors is None else factors[:, levels.node]
    machine, peer = np.zeros((2, 2 * count), dtype=np.int64)
    units, start, end = np.zeros((3, 2 * count))
    rows = earliest.run(
        count,
        (
            levels.first, levels.node, own, levels.send_fixed, levels.send_per_unit,
            levels.compute_fixed, levels.compute_per_unit, message, computation,
        ),
        (own.copy(), np.zeros(count), machine, peer, units, start, end),
    )  # fmt: skip
    machine, peer = machine[:rows], peer[:rows]
    sends = peer >= 0
    return Schedule.of_columns(
        tree.names,
        kind=np.where(sends, np.int8(Activity.SEND), np.int8(Activity.COMPUTE)),
        machine=machine,
        peer=peer,
        item=np.where(sends, peer, machine),
        amount=units[:rows],
        start=start[:rows],
        end=end[:rows],
        earliest=True,
        copy=False,
    )


def retimed_tree(
    problem: DivisibleLoad, schedule: Schedule, factors: Floats | None = None
) -> Schedule:
    """Return ``schedule`` with the same loads and orders of service, everything at its earliest.

    ``factors`` are on the durations of the rows of the schedule; None for nominal durations.
    """
    tree = problem.platform
    assert isinstance(tree, Tree)
    schedule = schedule.renamed(tree.names)
    sends = schedule.rows_of(Activity.SEND)
    rank = np.full(len(tree), len(sends))
    rank[schedule.peer[sends]] = np.arange(len(sends))
    by_node = None
    if factors is not None:
        computes = schedule.kind == Activity.COMPUTE
        by_node = np.ones((2, len(tree)))
        by_node[0, schedule.peer[~computes]] = factors[~computes]
        by_node[1, schedule.machine[computes]] = factors[computes]
    return timed_tree(problem, computed(schedule), Levels.of(tree, rank), by_node)
