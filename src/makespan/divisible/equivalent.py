"""A linear tree as one equivalent processor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.core.schedule import Floats
from makespan.divisible.tree import Tree
from makespan.divisible.tree_loops import equivalent, run


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EquivalentTree:
    """How a linear tree splits any load, its children served by non-decreasing link cost.

    ``rate`` is the load done per second after the root has it; ``share`` what each node computes
    of one unit.
    """

    rate: float
    share: Floats


def equivalent_tree(tree: Tree) -> EquivalentTree:
    """Replace every subtree, bottom up, by a processor that takes as long.

    A node with its children is a star whose master computes; with the best order and shares it
    does ``rate`` units per second, so it acts as a worker of ``1 / rate`` seconds per unit.

    Complexity: O(n log n).
    """
    served = tree.by_link_cost
    rate, own, part, carried = np.zeros((4, len(tree)))
    columns = (tree.send_per_unit, tree.compute_per_unit, rate, own, part, carried)
    run(equivalent, tree.downwards, served.first, served.child, *columns)
    return EquivalentTree(rate=float(rate[tree.root]), share=carried * own)
