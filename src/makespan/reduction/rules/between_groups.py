"""The loop of hierarchical collectives: groups of machines that send to each other in turns."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.jit import loop

PART, COMBINED, SPREAD, COPY = range(4)


@loop(pays_from=500)
def between_groups(  # type: ignore[no-untyped-def]
    waves, own, combining, latency, transfer, combine, early, backlog, unsent_at, up, down, order,
    rows,
):  # fmt: skip
    """Let every group send to one other, or to itself, a turn; return when the last is done.

    Every group sends its parts of a wave in ``own`` turns, to whatever group is free that has not
    sent on yet what it combined. From when no more than ``unsent_at`` parts a group are unsent,
    what was combined goes along the tree ``up`` of the wave, then back along ``down``: (wave,
    group), with -1 for the root. ``order`` (wave, place) are the groups by when the tree down
    reaches them. Whoever has a wave complete then sends copies to those that need them, ``own``
    turns each. Trees go first, then parts, then copies. Times are in one unit. What is ready
    ``early`` after a turn began may be sent in it; no parts go where more than ``backlog`` of
    combining is still to be done when they come. The end is that of all in the order of the turns,
    begun as early as can be.

    Without ``combining`` the roots have all from the start, and nothing is sent but copies.

    ``rows`` gets the turns: sender, receiver, wave, kind, and how many parts the sender, or copies
    the receiver, had left of the wave.

    Complexity: O(g) for each of the sends of g groups.
    """
    groups = up.shape[1]
    # tables of few types: what makes one is compiled for each
    left = np.zeros((groups, waves), rows.dtype)
    lacks = np.zeros((groups, waves), rows.dtype)
    waits = np.zeros((groups, waves), rows.dtype)
    child = np.zeros((groups, waves), rows.dtype)  # place from which on a copy has to be made
    left[:], lacks[:] = own if combining else 0, own
    coming = np.zeros((2, groups), rows.dtype)
    due, load = coming[0], coming[1]  # what is still to come but for parts, and with those that do
    of_wave = np.zeros((3, waves), rows.dtype)
    unsent, lacking, open_trees = of_wave[0], of_wave[1], of_wave[2]
    due[:], unsent[:] = own * waves, groups * (own if combining else 0)
    lacking[:], open_trees[:] = own * groups, (2 if combining else 1) * (groups - 1)
    given = np.zeros((groups, waves), np.bool_)
    has = np.zeros((groups, waves), np.bool_)
    free = np.zeros((2, groups), np.bool_)
    out_free, in_free = free[0], free[1]
    ready = np.zeros((groups, waves))  # when all that has come is combined, or the copy there
    clock = np.zeros((3, groups))
    unit, out_port, in_port = clock[0], clock[1], clock[2]
    for wave in range(waves):
        for group in range(groups):
            if not combining:
                given[group, wave] = order[wave, 0] != group
            elif up[wave, group] >= 0:
                waits[up[wave, group], wave] += 1
                due[up[wave, group]] += 1
    total = len(rows)
    for group in range(groups):
        load[group] = due[group] + waves
    done = turn = first = 0
    while done < total:
        before = done
        now = turn * transfer
        arrival = now + latency + transfer
        out_free[:] = True
        in_free[:] = True
        while first < waves and lacking[first] == 0 and open_trees[first] == 0:
            first += 1
        for wave in range(first, waves):
            if unsent[wave] > unsent_at * groups:
                break
            if open_trees[wave] == 0 and own == 0:
                continue
            for place in range(groups):
                group = order[wave, place]
                if ready[group, wave] > now + early or (
                    given[group, wave] and not has[group, wave]
                ):
                    continue
                if not has[group, wave]:
                    parent = up[wave, group] if combining else -1
                    if waits[group, wave] > 0:
                        continue
                    if parent < 0:
                        if unsent[wave] > 0:
                            continue
                        has[group, wave] = True
                    elif out_free[group] and in_free[parent]:
                        out_free[group] = in_free[parent] = False
                        given[group, wave] = True
                        waits[parent, wave] -= 1
                        due[parent] -= 1
                        unit[parent] = max(unit[parent], arrival) + combine
                        ready[parent, wave] = max(ready[parent, wave], unit[parent])
                        open_trees[wave] -= 1
                        rows[done, 0], rows[done, 1], rows[done, 2] = group, parent, wave
                        rows[done, 3], rows[done, 4] = COMBINED, 0
                        done += 1
                        continue
                if not has[group, wave] or not out_free[group]:
                    continue
                for other in range(max(child[group, wave], place + 1), groups):
                    taker = order[wave, other]
                    if down[wave, taker] == group:
                        if in_free[taker]:
                            out_free[group] = in_free[taker] = False
                            child[group, wave] = other + 1
                            has[taker, wave] = True
                            ready[taker, wave] = arrival
                            open_trees[wave] -= 1
                            rows[done, 0], rows[done, 1], rows[done, 2] = group, taker, wave
                            rows[done, 3], rows[done, 4] = SPREAD, 0
                            done += 1
                        break
                    child[group, wave] = other + 1
        for sender in range(groups):  # parts, to those to whom the least is still to come
            wave = first
            while wave < waves and left[sender, wave] == 0:
                wave += 1
            if not out_free[sender] or wave == waves:
                continue
            receiver = -1
            some = False
            for shift in range(groups):
                other = (sender + shift) % groups
                if not in_free[other] or unit[other] > arrival + backlog:
                    continue
                some = True
                if not given[other, wave] and (receiver < 0 or load[other] < load[receiver]):
                    receiver = other
            if not some:
                break  # none for the others, either
            if receiver < 0:
                continue
            out_free[sender] = in_free[receiver] = False
            unit[receiver] = max(unit[receiver], arrival) + combine
            ready[receiver, wave] = max(ready[receiver, wave], unit[receiver])
            rows[done, 0], rows[done, 1], rows[done, 2] = sender, receiver, wave
            rows[done, 3], rows[done, 4] = PART, left[sender, wave]
            left[sender, wave] -= 1
            load[receiver] += 1
            unsent[wave] -= 1
            done += 1
        for step in range(groups):  # copies, to those to whom the most is
            sender = (turn + step) % groups
            for wave in range(first, waves):
                if not out_free[sender]:
                    break
                if not has[sender, wave] or ready[sender, wave] > now + early or lacking[wave] == 0:
                    continue
                receiver = -1
                for shift in range(groups):
                    other = (sender + shift) % groups
                    if not in_free[other] or lacks[other, wave] == 0:
                        continue
                    if receiver < 0 or due[other] > due[receiver]:
                        receiver = other
                if receiver < 0:
                    continue
                out_free[sender] = in_free[receiver] = False
                rows[done, 0], rows[done, 1], rows[done, 2] = sender, receiver, wave
                rows[done, 3], rows[done, 4] = COPY, lacks[receiver, wave]
                lacks[receiver, wave] -= 1
                due[receiver] -= 1
                lacking[wave] -= 1
                done += 1
        turn += 1
        if done == before:  # nothing can be sent until more is ready
            ahead = np.inf
            for group in range(groups):
                if unit[group] > arrival + backlog:
                    ahead = min(ahead, unit[group] - backlog - latency - transfer)
                for wave in range(first, waves):
                    if ready[group, wave] > now + early:
                        ahead = min(ahead, ready[group, wave] - early)
            if ahead < np.inf:
                turn = max(turn, int(np.ceil(ahead / transfer)))
    unit[:] = ready[:] = end = 0.0
    for row in range(total):  # in this order, as early as can be
        sender, receiver, wave, kind = rows[row, 0], rows[row, 1], rows[row, 2], rows[row, 3]
        start = max(out_port[sender], in_port[receiver] - latency)
        if kind != PART:
            start = max(start, ready[sender, wave])
        arrival = start + latency + transfer
        out_port[sender] = start + transfer
        in_port[receiver] = arrival
        if kind <= COMBINED:
            arrival = max(arrival, unit[receiver]) + combine
            unit[receiver] = arrival
        if kind != COPY:
            ready[receiver, wave] = arrival
        end = max(end, arrival)
    return end
