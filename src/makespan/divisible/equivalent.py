"""A linear tree as one equivalent processor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.core.schedule import Floats
from makespan.divisible.linear import best_shares
from makespan.divisible.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EquivalentTree:
    """How a linear tree splits any load.

    ``rate`` is the load done per second after the root has it; ``share`` what each node computes
    of one unit; ``order`` the children of each node by non-decreasing link cost.
    """

    rate: float
    share: Floats
    order: tuple[tuple[int, ...], ...]


def equivalent_tree(tree: Tree) -> EquivalentTree:
    """Replace every subtree, bottom up, by a processor that takes as long.

    A node with its children is a star whose master computes; with the best order and shares it
    does ``rate`` units per second, so it acts as a worker of ``1 / rate`` seconds per unit.

    Complexity: O(n log n).
    """
    count = len(tree)
    rate = np.zeros(count)
    order: list[tuple[int, ...]] = [()] * count
    part: list[list[tuple[int, float]]] = [[] for _ in range(count)]  # of a unit at each node
    own = np.zeros(count)
    for node in reversed(tree.downwards):
        children = [child for child in tree.children[node] if rate[child] > 0]
        children.sort(key=lambda child: (tree.send_per_unit[child], child))
        per_unit = float(tree.compute_per_unit[node])
        order[node] = tuple(children)
        if per_unit == 0.0:
            rate[node], own[node] = np.inf, 1.0
            continue
        speed = 0.0 if np.isinf(per_unit) else 1.0 / per_unit
        send = tree.send_per_unit[children]
        compute = 1.0 / rate[children]
        free = np.flatnonzero(send + compute == 0.0)
        if len(free):
            rate[node] = np.inf
            part[node] = [(children[int(free[0])], 1.0)]
            continue
        shares = best_shares(send, compute)
        rate[node] = float(shares.sum()) + speed
        if rate[node] > 0:
            own[node] = speed / rate[node]
            part[node] = list(zip(children, (shares / rate[node]).tolist(), strict=True))
    carried = np.zeros(count)
    carried[tree.root] = 1.0
    for node in tree.downwards:
        for child, fraction in part[node]:
            carried[child] = carried[node] * fraction
    return EquivalentTree(rate=float(rate[tree.root]), share=carried * own, order=tuple(order))
