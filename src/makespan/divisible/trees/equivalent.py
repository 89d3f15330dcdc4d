"""Trees as one equivalent processor: linear ones, and with fixed costs, where all end together.

Fixed costs are spread over the most that what pays them could do, which bounds all plans.
In a plan that ends by T, a node that computes has its load at the earliest when it has come all the
way from the root, so that it computes at most ``(T - C - W)/(c + w)`` units, C and c summed over
the way. Its W is then at least ``W/most`` for each of them, and in the same way a message pays at
least ``C/most`` for each unit, most being what its subtree does by T. So the plan keeps the rules
of a linear tree of these costs, whose best is known (equivalent processors).
"""

from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.divisible.model.tree import Tree, node_loop


def equivalent_tree(tree: Tree) -> tuple[float, Floats]:
    """Replace every subtree, bottom up, by a processor that takes as long.

    Returns the load done per second after the root has it, and what each node computes of one unit;
    children are served by non-decreasing link cost.

    A node with its children is a star whose master computes; with the best order and shares it does
    ``rate`` units per second, so it acts as a worker of ``1 / rate`` seconds per unit. Complexity:
    O(n log n).
    """
    levels = tree.levels
    rate, own, part, carried, share = np.zeros((5, len(tree)))
    columns = (levels.first, levels.send_per_unit, levels.compute_per_unit)
    fill_equivalent.run(len(tree), columns, (rate, own, part, carried))
    share[levels.node] = carried * own
    return float(rate[0]), share


@node_loop
def fill_equivalent(first, link, compute, rate, own, part, carried):  # type: ignore[no-untyped-def]
    """Fill in each subtree's rate and, of a unit at the root, what each node receives.

    ``own`` is the fraction of that which a node computes, ``part`` the fraction of its parent's
    that it receives. Children come by non-decreasing ``link``.
    """
    endless = float("inf")
    for place in range(len(link) - 1, -1, -1):
        if compute[place] == 0.0:
            rate[place] = endless
            own[place] = 1.0
            continue
        speed = 1.0 / compute[place]
        total = 0.0
        left = 1.0
        free = -1
        for below in range(first[place], first[place + 1]):
            if rate[below] <= 0.0:
                continue
            seconds = 1.0 / rate[below]
            if link[below] + seconds == 0.0:
                free = below
                break
            part[below] = left / (link[below] + seconds)
            left *= seconds / (link[below] + seconds)
            total += part[below]
        if free >= 0:
            for below in range(first[place], first[place + 1]):
                part[below] = 0.0
            rate[place] = endless
            part[free] = 1.0
            continue
        total += speed
        rate[place] = total
        if total > 0.0:
            own[place] = speed / total
            for below in range(first[place], first[place + 1]):
                part[below] /= total
    carried[0] = 1.0
    for place in range(len(link)):
        if compute[place] == 0.0:
            continue
        for below in range(first[place], first[place + 1]):
            carried[below] = carried[place] * part[below]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EqualFinish:
    """Loads, some negative, with which the nodes used end together, children by link cost."""

    end: float
    amount: Floats


@node_loop
def fill_equal_finish(  # type: ignore[no-untyped-def]
    first, send_fixed, send, compute_fixed, compute, used,
    slope, offset, rate, loss, carried, seconds, amount,
    load,
):  # fmt: skip
    """Fill in the amounts with which the nodes used end together; return when, or NaN.

    A subtree with r seconds left does ``slope r - offset``; of its parent's r seconds it does
    ``rate r - loss``. Children come by non-decreasing ``send``.
    """
    for place in range(len(send) - 1, -1, -1):
        if used[place]:
            slope[place] = 1.0 / compute[place]
            offset[place] = compute_fixed[place] * slope[place]
        left, spent = 1.0, 0.0  # of the place's r seconds, ``left r - spent`` remain
        for below in range(first[place], first[place + 1]):
            rated = slope[below]
            if rated <= 0.0:
                continue
            per_second = rated / (1.0 + rated * send[below])
            fixed = (rated * send_fixed[below] + offset[below]) / (1.0 + rated * send[below])
            rate[below] = per_second * left
            loss[below] = per_second * spent + fixed
            slope[place] += rate[below]
            offset[place] += loss[below]
            left -= send[below] * rate[below]
            spent += send_fixed[below] - send[below] * loss[below]
    if slope[0] <= 0.0:
        return float("nan")
    end = (load + offset[0]) / slope[0]
    carried[0] = load
    seconds[0] = end
    for place in range(len(send)):
        passed, clock = 0.0, seconds[place]
        for below in range(first[place], first[place + 1]):
            if slope[below] <= 0.0:
                continue
            carried[below] = rate[below] * seconds[place] - loss[below]
            clock -= send_fixed[below] + send[below] * carried[below]
            seconds[below] = clock
            passed += carried[below]
        if used[place]:
            amount[place] = carried[place] - passed
    return end


def equal_finish(tree: Tree, used: np.ndarray, load: float) -> EqualFinish | None:
    """Return the loads with which the nodes used end together; None if nobody computes.

    ``used``: which nodes compute, (n,) of bool. The others only forward.

    A subtree that has r seconds left when its load has arrived does ``slope * r - offset`` units:
    the node itself ``(r - W)/w``; of each child in turn, in order of link cost, the message and the
    child's work fill the time that is left, so that with the child's slope and offset the load is
    ``(slope (r - C) - offset)/(1 + slope c)``. All of it is affine in r. Complexity: O(n). Source:
    equivalent processors (Cheng and Robertazzi 1990) with the start-ups of Benoit 2016, latencies.
    """
    levels = tree.levels
    filled = np.zeros((7, len(tree)))
    end = fill_equal_finish.run(
        len(tree), (levels.first, *levels.costs, used[levels.node]), tuple(filled), (float(load),)
    )
    if np.isnan(end):
        return None
    amount = np.empty(len(tree))
    amount[levels.node] = filled[-1]
    return EqualFinish(end=float(end), amount=amount)


NEAR = 1e-9  # relative: what a bound gives away for rounding


@node_loop
def fill_spread(  # type: ignore[no-untyped-def]
    first, send_fixed, send, compute_fixed, compute, path_fixed, path, rate, link, most, end, load
):
    """Fill in what subtrees do in a second, fixed costs spread over the most that they could do.

    ``path_fixed`` and ``path`` become the costs from the root, ``link`` the cost of a message for a
    unit, ``most`` what it could carry. Return the root's rate.
    """
    endless = float("inf")
    for place in range(len(send)):
        for below in range(first[place], first[place + 1]):
            path_fixed[below] = path_fixed[place] + send_fixed[below]
            path[below] = path[place] + send[below]
    for place in range(len(send) - 1, -1, -1):
        total = 0.0
        room = end - path_fixed[place] - compute_fixed[place]
        alone = path[place] + compute[place]
        if room > 0.0 and alone < endless:
            amount = load if alone <= 0.0 or alone * load <= room else room / alone
            seconds = endless if amount <= 0.0 else compute[place] + compute_fixed[place] / amount
            total = 1.0 / seconds if seconds > 0.0 else endless
        left = 1.0
        start = first[place]
        for below in np.argsort(np.asarray(link[start : first[place + 1]])):
            child = start + below
            if rate[child] <= 0.0:
                continue
            seconds = link[child] + 1.0 / rate[child]
            if seconds <= 0.0:
                total = endless
                break
            total += left / seconds
            left *= (1.0 / rate[child]) / seconds
        rate[place] = total
        room = end - path_fixed[place]
        if total <= 0.0 or room <= 0.0:
            rate[place] = 0.0
            continue
        alone = path[place] + 1.0 / total
        most[place] = load if alone <= 0.0 or alone * load <= room else room / alone
        if most[place] <= 0.0:
            rate[place] = 0.0
            continue
        link[place] = send[place] + send_fixed[place] / most[place]
    return rate[0]


def spread_tree(tree: Tree, end: float, load: float) -> tuple[float, Floats]:
    """Return what no plan does more of by ``end``, nor a message carries, in O(n log n)."""
    levels, filled = tree.levels, np.zeros((5, len(tree)))
    columns = (levels.first, *levels.costs)
    rate = fill_spread.run(len(tree), columns, tuple(filled), (float(end), float(load)))
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
