"""Trees with fixed costs, bounded: each is spread over the most that what pays it could do.

In a plan that ends by T, a node that computes has its load at the earliest when it has come all the
way from the root, so that it computes at most ``(T - C - W)/(c + w)`` units, C and c summed over
the way. Its W is then at least ``W/most`` for each of them, and in the same way a message pays at
least ``C/most`` for each unit, most being what its subtree does by T. So the plan keeps the rules
of a linear tree of these costs, whose best is known (equivalent processors).
"""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.divisible.model import tree_loops
from makespan.divisible.model.tree import Tree

NEAR = 1e-9  # relative: what a bound gives away for rounding


def spread_tree(tree: Tree, end: float, load: float) -> tuple[float, Floats]:
    """Return what no plan does more of by ``end``, and what no message carries more of.

    Parameters
    ----------
    tree
        The tree.
    end
        Seconds.
    load
        All there is to do, units; may be infinite.

    Complexity: O(n log n).
    """
    levels, filled = tree.levels, np.zeros((5, len(tree)))
    columns = (
        levels.first, levels.send_fixed, levels.send_per_unit, levels.compute_fixed,
        levels.compute_per_unit,
    )  # fmt: skip
    rate = tree_loops.spread.run(len(tree), columns, tuple(filled), (float(end), float(load)))
    most = np.zeros(len(tree))
    most[levels.node] = filled[-1]
    return float(rate) * end if rate > 0 else 0.0, most


def spread_bound(tree: Tree, load: float, at_least: float) -> float:
    """Return a lower bound on the makespan, seconds: before it the load can't be done.

    What is done by T grows with T faster than T does. So both ends of the interval in which it
    meets the load come nearer by what each of them would take.
    """
    low, high = at_least, np.inf
    while low < high * (1 - NEAR):
        end = 2.0 * low if np.isinf(high) else (low + high) / 2.0
        if not np.isfinite(end):
            break
        done = spread_tree(tree, end, load)[0]
        takes = end * load / done if done > 0 else np.inf
        if takes > end:
            low, high = end, min(high, takes)
        else:
            low, high = max(low, takes), end
    return low * (1 - NEAR)
