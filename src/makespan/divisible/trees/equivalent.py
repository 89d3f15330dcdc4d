"""Trees as one equivalent processor: linear ones, and with fixed costs, where all end together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.divisible.model import tree_loops
from makespan.divisible.model.tree import Tree


def equivalent_tree(tree: Tree) -> tuple[float, Floats]:
    """Replace every subtree, bottom up, by a processor that takes as long.

    Returns the load done per second after the root has it, and what each node computes of one
    unit; children are served by non-decreasing link cost.

    A node with its children is a star whose master computes; with the best order and shares it
    does ``rate`` units per second, so it acts as a worker of ``1 / rate`` seconds per unit.

    Complexity: O(n log n).
    """
    levels = tree.levels
    rate, own, part, carried, share = np.zeros((5, len(tree)))
    columns = (levels.first, levels.send_per_unit, levels.compute_per_unit)
    tree_loops.equivalent.run(len(tree), columns, (rate, own, part, carried))
    share[levels.node] = carried * own
    return float(rate[0]), share


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EqualFinish:
    """Loads with which the nodes used end together, children served by link cost.

    ``end`` is the makespan, ``amount`` the units of each node (negative where it can't take part
    by then).
    """

    end: float
    amount: Floats


def equal_finish(tree: Tree, used: np.ndarray, load: float) -> EqualFinish | None:
    """Return the loads with which the nodes used end together; None if nobody computes.

    Parameters
    ----------
    tree
        The tree.
    used
        Which nodes compute, (n,) of bool. The others only forward.
    load
        Units.

    A subtree that has r seconds left when its load has arrived does ``slope * r - offset``
    units: the node itself ``(r - W)/w``; of each child in turn, in order of link cost, the
    message and the child's work fill the time that is left, so that with the child's slope and
    offset the load is ``(slope (r - C) - offset)/(1 + slope c)``. All of it is affine in r.

    Complexity: O(n). Source: equivalent processors (Cheng and Robertazzi 1990) with the
    start-ups of Benoit 2016, latencies.
    """
    levels = tree.levels
    filled = np.zeros((7, len(tree)))
    end = tree_loops.equal_finish.run(
        len(tree),
        (
            levels.first, levels.send_fixed, levels.send_per_unit, levels.compute_fixed,
            levels.compute_per_unit, used[levels.node],
        ),
        tuple(filled),
        (float(load),),
    )  # fmt: skip
    if np.isnan(end):
        return None
    amount = np.empty(len(tree))
    amount[levels.node] = filled[-1]
    return EqualFinish(end=float(end), amount=amount)
