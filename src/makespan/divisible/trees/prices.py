"""Trees with fixed costs, bounded: the time of each node's port has prices.

F_v(r) is the most that the subtree of v does when r seconds are left as its load arrives. Its
messages exclude each other. So with a price lambda(s) >= 0 of the port's time when s seconds are
left, whatever it is,

    F_v(r) <= (r - W_v)/w_v + integral of lambda over [0, r] + sum over the children j of
              max over s <= r and x of [x - integral of lambda over [s - C - c x, s]],

where x <= F_j(s - C - c x), and a child that is not served counts 0 (Lagrange relaxation). Children
come first, so that F is bounded upwards from the leaves, in cells of the time that is left: what
holds at the end of a cell holds in all of it. Prices that don't fall with s make the integral over
an interval of one length grow with s, and what is maximised convex in x: so the greatest x is best,
or none, and the cell's first s counts. Each node has prices for several r; those that are best for
one are near the best for those around it, and every one of them bounds all r up to its own.

Source: Lagrange relaxation of a machine's time, as in time-indexed scheduling (M. van den Akker,
C. Hurkens and M. Savelsbergh, INFORMS Journal on Computing 12, 2000), one node after another.
"""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.core.system.memory import claim
from makespan.divisible.model.tree import Tree
from makespan.divisible.trees.price_loops import fill

CELLS, LEAST_CELLS = 4_000, 200
MAX_ENTRIES = 1e7  # of the table of nodes and cells
MAX_NEAR = 5_000  # nodes that could be reached by the end
A_NODE = 5e-4  # seconds, of those
ROUNDING = 1e-9  # relative


def seconds_for(tree: Tree, end: float) -> float:
    """Return about how long :func:`most_by` takes; infinity where it is not to be asked."""
    if LEAST_CELLS * len(tree) > MAX_ENTRIES or not 0.0 < end < np.inf:
        return np.inf
    near = int((_paths(tree) < end).sum())
    timely = bool((tree.compute_per_unit > 0).all())
    return A_NODE * near if timely and near <= MAX_NEAR else np.inf


def most_by(tree: Tree, end: float) -> Floats:
    """Return what a tree does at most by ``end / len``, ``2 end / len``, ..., ``end``, units.

    Parameters
    ----------
    tree
        A tree; whoever computes takes time for it.
    end
        Seconds, positive and finite.

    Complexity: O(n) for each cell and for each step of the search for prices; only nodes that
    could be reached by ``end`` count.
    """
    levels = tree.levels
    cells = int(min(CELLS, MAX_ENTRIES / len(tree)))
    claim(8.0 * len(tree) * cells, "the table of nodes and cells of time")
    most = np.zeros((len(tree), cells + 1))
    fill(
        levels.first, levels.send_fixed, levels.send_per_unit, levels.compute_fixed,
        levels.compute_per_unit, _paths(tree), end, most,
    )  # fmt: skip
    found: Floats = most[0, 1:] * (1 + ROUNDING)
    return found


def price_bound(tree: Tree, load: float, end: float) -> float:
    """Return a lower bound on the makespan of a load, seconds.

    ``end`` is that of a plan: no later end is looked at.
    """
    most = most_by(tree, end)
    return end * int((most < load).sum()) / len(most) * (1 - ROUNDING)


def _paths(tree: Tree) -> Floats:
    """Return the fixed costs on the way to each place."""
    levels = tree.levels
    path = np.zeros(len(levels.node))
    first, fixed = levels.first.tolist(), levels.send_fixed
    for place in range(len(path)):
        below = slice(first[place], first[place + 1])
        path[below] = path[place] + fixed[below]
    return path
