"""A linear tree as one equivalent processor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from makespan.core.schedule import Floats
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
    link, per_unit_of = tree.send_per_unit.tolist(), tree.compute_per_unit.tolist()
    rate, own = [0.0] * count, [0.0] * count
    order: list[tuple[int, ...]] = [()] * count
    part: list[Iterable[tuple[int, float]]] = [()] * count  # of a unit at each node
    for node in reversed(tree.downwards):
        children = [child for child in tree.children[node] if rate[child] > 0]
        if len(children) > 1:
            children.sort(key=lambda child: (link[child], child))
        per_unit = per_unit_of[node]
        order[node] = tuple(children)
        if per_unit == 0.0:
            rate[node], own[node] = np.inf, 1.0
            continue
        free = [child for child in children if link[child] == 0.0 and np.isinf(rate[child])]
        if free:
            rate[node], part[node] = np.inf, [(free[0], 1.0)]
            continue
        speed = 1.0 / per_unit
        shares = _shares([link[child] for child in children], [rate[child] for child in children])
        rate[node] = sum(shares) + speed
        if rate[node] > 0:
            own[node] = speed / rate[node]
            total = rate[node]
            part[node] = [(child, x / total) for child, x in zip(children, shares, strict=True)]
    carried = [0.0] * count
    carried[tree.root] = 1.0
    for node in tree.downwards:
        for child, fraction in part[node]:
            carried[child] = carried[node] * fraction
    share = np.array(carried) * np.array(own)
    return EquivalentTree(rate=rate[tree.root], share=share, order=tuple(order))


def _shares(send: list[float], rate: list[float]) -> list[float]:
    """Return what children at these rates do in 1 s, served by non-decreasing link cost.

    Few numbers, of many nodes: plain loops are faster than arrays.
    """
    left, shares = 1.0, []
    for c, s in zip(send, rate, strict=True):
        compute = 1.0 / s
        shares.append(left / (c + compute))
        left *= compute / (c + compute)
    return shares
