"""The loops over the nodes of a tree, compiled for large trees.

Each fills in the columns that it is given. The children of node k are ``child[first[k]]`` to
``child[first[k + 1] - 1]``, in the order of service; ``downwards`` holds parents before children.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from makespan.core.jit import kernel

COMPILE_FROM = 1_000  # nodes


def run(loop: Callable[..., Any], *given: Any) -> Any:
    """Run a loop on columns and numbers: compiled where the first column is long.

    Where it is short, on lists, which plain Python reads faster than arrays.
    """
    if len(given[0]) >= COMPILE_FROM:
        return _compiled(loop)(*given)
    lists = [each.tolist() if isinstance(each, np.ndarray) else each for each in given]
    result = loop(*lists)
    for column, filled in zip(given, lists, strict=True):
        if isinstance(column, np.ndarray) and column.flags.writeable:
            column[:] = filled
    return result


@cache
def _compiled(loop: Callable[..., Any]) -> Any:
    return kernel(loop)


def breadth_first(first, child, root, downwards):  # type: ignore[no-untyped-def]
    """Fill in the nodes below the root, level by level; return how many there are."""
    downwards[0] = root
    count = 1
    place = 0
    while place < count:
        node = downwards[place]
        for k in range(first[node], first[node + 1]):
            downwards[count] = child[k]
            count += 1
        place += 1
    return count


def equivalent(downwards, first, child, link, compute, rate, own, part, carried):  # type: ignore[no-untyped-def]
    """Fill in each subtree's rate and, of a unit at the root, what each node receives.

    ``own`` is the fraction of that which a node computes, ``part`` the fraction of its parent's
    that it receives. Children come by non-decreasing ``link``.
    """
    endless = float("inf")
    for place in range(len(downwards) - 1, -1, -1):
        node = downwards[place]
        if compute[node] == 0.0:
            rate[node] = endless
            own[node] = 1.0
            continue
        speed = 1.0 / compute[node]
        total = 0.0
        left = 1.0
        free = -1
        for k in range(first[node], first[node + 1]):
            below = child[k]
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
            for k in range(first[node], first[node + 1]):
                part[child[k]] = 0.0
            rate[node] = endless
            part[free] = 1.0
            continue
        total += speed
        rate[node] = total
        if total > 0.0:
            own[node] = speed / total
            for k in range(first[node], first[node + 1]):
                part[child[k]] /= total
    carried[downwards[0]] = 1.0
    for place in range(len(downwards)):
        node = downwards[place]
        if compute[node] == 0.0:
            continue
        for k in range(first[node], first[node + 1]):
            carried[child[k]] = carried[node] * part[child[k]]


def equal_finish(  # type: ignore[no-untyped-def]
    downwards, first, child, send_fixed, send, compute_fixed, compute, used, load,
    slope, offset, rate, loss, carried, seconds, amount,
):  # fmt: skip
    """Fill in the amounts with which the nodes used end together; return when, or NaN.

    A subtree with r seconds left does ``slope r - offset``; of its parent's r seconds it does
    ``rate r - loss``. Children come by non-decreasing ``send``.
    """
    for place in range(len(downwards) - 1, -1, -1):
        node = downwards[place]
        if used[node]:
            slope[node] = 1.0 / compute[node]
            offset[node] = compute_fixed[node] * slope[node]
        left, spent = 1.0, 0.0  # of the node's r seconds, ``left r - spent`` remain
        for k in range(first[node], first[node + 1]):
            below = child[k]
            rated = slope[below]
            if rated <= 0.0:
                continue
            per_second = rated / (1.0 + rated * send[below])
            fixed = (rated * send_fixed[below] + offset[below]) / (1.0 + rated * send[below])
            rate[below] = per_second * left
            loss[below] = per_second * spent + fixed
            slope[node] += rate[below]
            offset[node] += loss[below]
            left -= send[below] * rate[below]
            spent += send_fixed[below] - send[below] * loss[below]
    root = downwards[0]
    if slope[root] <= 0.0:
        return float("nan")
    end = (load + offset[root]) / slope[root]
    carried[root] = load
    seconds[root] = end
    for place in range(len(downwards)):
        node = downwards[place]
        passed, clock = 0.0, seconds[node]
        for k in range(first[node], first[node + 1]):
            below = child[k]
            if slope[below] <= 0.0:
                continue
            carried[below] = rate[below] * seconds[node] - loss[below]
            clock -= send_fixed[below] + send[below] * carried[below]
            seconds[below] = clock
            passed += carried[below]
        if used[node]:
            amount[node] = carried[node] - passed
    return end


def earliest(  # type: ignore[no-untyped-def]
    downwards, first, child, parent, own, send_fixed, send, compute_fixed, compute,
    message, computation, carried, arrived, machine, peer, amount, start, end,
):  # fmt: skip
    """Fill in the rows of the earliest schedule; return how many there are.

    ``carried`` holds the loads that the nodes compute; it becomes those of their subtrees.
    ``message`` and ``computation`` are factors on the durations.
    """
    for place in range(len(downwards) - 1, 0, -1):
        node = downwards[place]
        carried[parent[node]] += carried[node]
    row = 0
    for place in range(len(downwards)):
        node = downwards[place]
        clock = arrived[node]
        for k in range(first[node], first[node + 1]):
            below = child[k]
            if carried[below] <= 0.0:
                continue
            machine[row], peer[row] = node, below
            amount[row], start[row] = carried[below], clock
            clock += (send_fixed[below] + send[below] * carried[below]) * message[below]
            arrived[below] = clock
            end[row] = clock
            row += 1
        if own[node] > 0.0:
            machine[row], peer[row] = node, -1
            amount[row], start[row] = own[node], arrived[node]
            lasts = (compute_fixed[node] + compute[node] * own[node]) * computation[node]
            end[row] = arrived[node] + lasts
            row += 1
    return row
