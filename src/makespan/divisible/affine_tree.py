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
    send_fixed, send = tree.send_fixed.tolist(), tree.send_per_unit.tolist()
    compute_fixed, compute = tree.compute_fixed.tolist(), tree.compute_per_unit.tolist()
    computes = used.tolist()
    slope, offset = [0.0] * count, [0.0] * count
    order: list[tuple[int, ...]] = [()] * count
    share: list[list[tuple[int, float, float]]] = [[] for _ in range(count)]
    for node in reversed(tree.downwards):
        if computes[node]:
            slope[node] = 1.0 / compute[node]
            offset[node] = compute_fixed[node] * slope[node]
        served = [child for child in tree.children[node] if slope[child] > 0]
        if len(served) > 1:
            served.sort(key=lambda child: (send[child], child))
        order[node] = tuple(served)
        left, spent = 1.0, 0.0  # of the node's r seconds, ``left * r - spent`` remain
        for child in served:
            c, latency, rated = send[child], send_fixed[child], slope[child]
            per_second = rated / (1.0 + rated * c)
            fixed = (rated * latency + offset[child]) / (1.0 + rated * c)
            rate, loss = per_second * left, per_second * spent + fixed
            share[node].append((child, rate, loss))
            slope[node] += rate
            offset[node] += loss
            left, spent = left - c * rate, spent + latency - c * loss
    root = tree.root
    if slope[root] == 0:
        return None
    end = (load + offset[root]) / slope[root]
    return EqualFinish(end=end, amount=_amounts(tree, used, share, end, load), order=tuple(order))


def _amounts(
    tree: Tree,
    used: np.ndarray,
    share: list[list[tuple[int, float, float]]],
    end: float,
    load: float,
) -> Floats:
    """Return what each node computes, given the seconds that the root has."""
    send_fixed, send = tree.send_fixed.tolist(), tree.send_per_unit.tolist()
    computes = used.tolist()
    amount, carried, seconds = ([0.0] * len(tree) for _ in range(3))
    carried[tree.root], seconds[tree.root] = load, end
    for node in tree.downwards:
        passed, clock = 0.0, seconds[node]
        for child, rate, loss in share[node]:
            carried[child] = rate * seconds[node] - loss
            clock -= send_fixed[child] + send[child] * carried[child]
            seconds[child] = clock
            passed += carried[child]
        amount[node] = carried[node] - passed if computes[node] else 0.0
    return np.array(amount)
