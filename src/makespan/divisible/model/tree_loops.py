"""The loops over the nodes of a tree, compiled for large trees.

Each fills in the columns that it is given. They run over places, level by level from the root, at
place 0: the children of place p are the places ``first[p]`` to ``first[p + 1] - 1``, in the order
of service. What lies side by side in a tree lies side by side in memory, too.
"""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.jit import loop

node_loop = loop(pays_from=1_000)  # nodes


@node_loop
def breadth_first(below, child, node, first, root):  # type: ignore[no-untyped-def]
    """Fill in the nodes from the root, level by level; return how many are reached.

    The children of node k are ``child[below[k]]`` to ``child[below[k + 1] - 1]``.
    """
    node[0] = root
    count = 1
    place = 0
    while place < count:
        first[place] = count
        for k in range(below[node[place]], below[node[place] + 1]):
            node[count] = child[k]
            count += 1
        place += 1
    first[count] = count
    return count


@node_loop
def equivalent(first, link, compute, rate, own, part, carried):  # type: ignore[no-untyped-def]
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


@node_loop
def equal_finish(  # type: ignore[no-untyped-def]
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


@node_loop
def spread(  # type: ignore[no-untyped-def]
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


@node_loop
def earliest(  # type: ignore[no-untyped-def]
    first, node, own, send_fixed, send, compute_fixed, compute,
    message, computation, carried, arrived, machine, peer, amount, start, end,
):  # fmt: skip
    """Fill in the rows of the earliest schedule; return how many there are.

    ``carried`` holds the loads that the nodes compute; it becomes those of their subtrees.
    ``message`` and ``computation`` are factors on the durations.
    """
    for place in range(len(own) - 1, -1, -1):
        for below in range(first[place], first[place + 1]):
            carried[place] += carried[below]
    row = 0
    for place in range(len(own)):
        clock = arrived[place]
        for below in range(first[place], first[place + 1]):
            if carried[below] <= 0.0:
                continue
            machine[row], peer[row] = node[place], node[below]
            amount[row], start[row] = carried[below], clock
            clock += (send_fixed[below] + send[below] * carried[below]) * message[below]
            arrived[below] = clock
            end[row] = clock
            row += 1
        if own[place] > 0.0:
            machine[row], peer[row] = node[place], -1
            amount[row], start[row] = own[place], arrived[place]
            lasts = (compute_fixed[place] + compute[place] * own[place]) * computation[place]
            end[row] = arrived[place] + lasts
            row += 1
    return row
