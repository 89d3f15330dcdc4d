"""A linear tree as one equivalent processor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.divisible.model.tree import Tree
from makespan.divisible.model.tree_loops import equivalent


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
    levels = tree.levels
    rate, own, part, carried, share = np.zeros((5, len(tree)))
    columns = (levels.first, levels.send_per_unit, levels.compute_per_unit)
    equivalent.run(len(tree), columns, (rate, own, part, carried))
    share[levels.node] = carried * own
    return EquivalentTree(rate=float(rate[0]), share=share)
