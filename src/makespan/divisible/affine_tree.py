"""Trees with fixed costs: the best loads for nodes that all take part and end together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.core.schedule import Floats
from makespan.divisible.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EqualFinish:
    """Loads with which the nodes used end together.

    ``end`` is the makespan, ``amount`` the units of each node (negative where it can't take part
    by then), ``order`` the children served by each node.
    """

    end: float
    amount: Floats
    order: tuple[tuple[int, ...], ...]


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

    Complexity: O(n log n). Source: equivalent processors (Cheng and Robertazzi 1990) with the
    start-ups of paper 002, latencies.
    """
    count = len(tree)
    slope, offset = np.zeros(count), np.zeros(count)
    order: list[tuple[int, ...]] = [()] * count
    share: list[list[tuple[int, float, float]]] = [[] for _ in range(count)]
    for node in reversed(tree.downwards):
        if used[node]:
            slope[node] = 1.0 / tree.compute_per_unit[node]
            offset[node] = tree.compute_fixed[node] * slope[node]
        served = [child for child in tree.children[node] if slope[child] > 0]
        served.sort(key=lambda child: (tree.send_per_unit[child], child))
        order[node] = tuple(served)
        left, spent = 1.0, 0.0  # of the node's r seconds, ``left * r - spent`` remain
        for child in served:
            c, latency = float(tree.send_per_unit[child]), float(tree.send_fixed[child])
            per_second = float(slope[child]) / (1.0 + float(slope[child]) * c)
            fixed = (float(slope[child]) * latency + float(offset[child])) / (
                1.0 + float(slope[child]) * c
            )
            rate, loss = per_second * left, per_second * spent + fixed
            share[node].append((child, rate, loss))
            slope[node] += rate
            offset[node] += loss
            left, spent = left - c * rate, spent + latency - c * loss
    root = tree.root
    if slope[root] == 0:
        return None
    end = (load + float(offset[root])) / float(slope[root])
    return EqualFinish(end=end, amount=_amounts(tree, used, share, end, load), order=tuple(order))


def _amounts(
    tree: Tree,
    used: np.ndarray,
    share: list[list[tuple[int, float, float]]],
    end: float,
    load: float,
) -> Floats:
    """Return what each node computes, given the seconds that the root has."""
    amount = np.zeros(len(tree))
    carried, seconds = np.zeros(len(tree)), np.zeros(len(tree))
    carried[tree.root], seconds[tree.root] = load, end
    for node in tree.downwards:
        passed, clock = 0.0, float(seconds[node])
        for child, rate, loss in share[node]:
            carried[child] = rate * seconds[node] - loss
            clock -= float(tree.send_fixed[child] + tree.send_per_unit[child] * carried[child])
            seconds[child] = clock
            passed += float(carried[child])
        amount[node] = carried[node] - passed if used[node] else 0.0
    return amount
