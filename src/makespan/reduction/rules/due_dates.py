"""The loop of the earliest-due-date greedy: an all-reduce, one send after another."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from makespan.core.numeric.jit import loop

SPARE_PARTS = 1  # copies are sent by those that have the fewest parts left to send
BY_TAKEN = 2  # parts go to those that took the fewest, else to those that have the fewest left
BEHIND = 4  # copies go to those that are sending first
GATHERED = 8  # parts go to those that can't send theirs on yet, anyway, first
MANNERS = 16


@loop(pays_from=2_000)
def combine_and_copy(  # type: ignore[no-untyped-def]
    latency, transfer, combine, prepare, size, parents, children, dues, there, back, script, rows,
    times, complete, end, spread, backlog, apart, open_parts, manner, seed, allowed, huge, ports,
    stop,
):  # fmt: skip
    """Combine each segment somewhere and copy it to all; return when the last send is done.

    At every moment, of all sends that machines with free ports can make at once, the one that is
    due first is made, then the next: a part of a segment that is to be complete at
    ``complete[segment]``, or a copy of one that all must hold by ``end``. ``there`` and ``back``
    are when one holder has made 0, 1, … others, going backwards and forwards: where so many
    machines still hold a part, or hold it all, the next send is due that long before the one or
    the end. Due dates of segments are moved by up to ``spread`` at random from ``seed``.
    ``manner`` says who sends and who takes it, of all who can. No part is sent where a unit would
    still be busy for more than ``backlog`` when it comes. Machine i has port and unit i mod
    ``ports``, which others have, too, where a plan stands for its rotations.

    ``latency`` and ``transfer`` are (sender, receiver) tables, negative transfers where there is no
    link, or 1 × 1. ``combine`` is what a receiver spends on a part, ``prepare`` a sender on a copy:
    an entry per machine, or one. ``parents`` (machine, segment) says where a part goes, ``dues``
    when it is due, ``children`` how many are waited for; a parent of -1 leaves that open, with
    ``open_parts`` all are. For :data:`GATHERED`, those who can send on count as ``apart`` later.
    ``script`` rows (sender, receiver, segment) are sent first, in order. ``rows`` gets all sends in
    their order, with whether they are copies, ``times`` their starts and arrivals. Returns -1 where
    the end can't be below ``allowed``, where no machine can go on, or when ``stop`` says so.
    """
    machines, segments = parents.shape
    held = machines // ports * segments
    pairs = 1 if latency.shape[0] > 1 else 0
    units = 1 if combine.shape[0] > 1 else 0
    zero = latency[0, 0] * 0
    whole = np.zeros((machines, segments), np.bool_)
    given = np.zeros((machines, segments), np.bool_)
    # tables of few types: what makes one is compiled for each
    ready = np.zeros((machines, segments), latency.dtype)  # when a machine has its part, or all
    clock = np.zeros((4, machines), latency.dtype)
    out_port, in_port, unit = clock[0], clock[1], clock[2]
    wake = clock[3]  # when a machine looks for a send, huge for never
    freed = np.zeros((1, segments), latency.dtype)[0]  # when a taker has a free port
    got = np.zeros((machines, segments), rows.dtype)
    tried = np.zeros((machines, segments), rows.dtype)  # the last moment when there was no taker
    count = np.zeros((8, machines), rows.dtype)
    port, owned, taken, copied_by = count[0], count[1], count[2], count[3]
    left = count[4]  # parts that the machines at a port hold
    looking, looks = count[5], 0  # those who look now
    takers, takes = count[6], 0  # those who can take something now, of equal pairs
    along = count[7]  # the part along a tree that a machine can send first
    state = np.zeros((3, segments), rows.dtype)
    parts, holders, freed_at = state[0], state[1], state[2]
    opened = np.zeros((1, segments), np.bool_)[0]
    dates = np.zeros((2, segments), complete.dtype)
    due, moved = dates[0], dates[1]
    for machine in range(machines):
        port[machine], left[machine], along[machine] = machine % ports, held, -1
    moment = 0
    now = zero
    for segment in range(segments):
        parts[segment], freed[segment] = machines, huge
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        moved[segment] = spread * (seed >> 8) / 8388608.0
    heap = [(zero, 0)]
    heap.pop()
    total = 2 * segments * (machines - 1)
    scripted = script.shape[0]
    done = 0
    last = zero
    while done < total:
        if stop[0] != 0:
            return zero - 1
        if done < scripted:
            sender, receiver, segment = script[done, 0], script[done, 1], script[done, 2]
        else:
            if done == scripted:  # all look, in any order
                for machine in range(machines):
                    seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
                    wake[machine] = out_port[port[machine]]
                    heappush(heap, (wake[machine], (seed >> 16) * machines + machine))
                scripted = -1
            if looks == 0:
                if len(heap) == 0:
                    return zero - 1
                now = heap[0][0]
                moment += 1
                while len(heap) > 0 and heap[0][0] == now:
                    machine = heappop(heap)[1] % machines
                    if wake[machine] == now and out_port[port[machine]] > now:
                        wake[machine] = out_port[port[machine]]
                        heappush(heap, (wake[machine], (seed >> 16) * machines + machine))
                    elif wake[machine] == now:
                        wake[machine] = zero - 1
                        along[machine] = -2
                        looking[looks] = machine
                        looks += 1
                takes = 0
                for machine in range(machines):
                    if pairs > 0 or in_port[port[machine]] - latency[0, 0] <= now:
                        takers[takes] = machine
                        takes += 1
                for other in range(segments):
                    opened[other] = holders[other] < machines
                    if holders[other] > 0:
                        due[other] = end - (back[machines - 1] - back[holders[other] - 1])
                    else:
                        opened[other] = open_parts
                        due[other] = complete[other] - there[parts[other] - 1]
                    due[other] += moved[other]
                if looks == 0:
                    continue
            # what is due first, of parts along trees and of segments
            best = 0.0
            segment = sender = -1
            for place in range(0 if open_parts else looks):
                machine = looking[place]
                if along[machine] == -2:
                    along[machine] = -1
                    for other in range(segments):
                        parent = parents[machine, other]
                        if (
                            parent < 0 or given[machine, other] or ready[machine, other] > now
                            or got[machine, other] < children[machine, other]
                        ):  # fmt: skip
                            continue
                        lag = latency[machine * pairs, parent * pairs]
                        lasts = transfer[machine * pairs, parent * pairs] * size[other]
                        at = max(in_port[port[parent]], unit[port[parent]] - lasts - backlog)
                        if at - lag > now:
                            continue
                        first = along[machine]
                        if first < 0 or dues[machine, other] < dues[machine, first]:
                            along[machine] = other
                other = along[machine]
                if other >= 0 and (sender < 0 or dues[machine, other] < best):
                    segment, sender, best = other, machine, dues[machine, other] + 0.0
            for other in range(segments):
                if opened[other] and (segment < 0 or due[other] < best):
                    segment, sender, best = other, -1, due[other]
            if segment < 0:  # all who could not send look again when that may have changed
                for place in range(looks):
                    machine = looking[place]
                    soonest = huge
                    for other in range(segments):
                        copied = whole[machine, other]
                        parent = -1 if copied else parents[machine, other]
                        gone = holders[other] == machines if copied else given[machine, other]
                        waits = got[machine, other] < children[machine, other]
                        if gone or (waits and not copied):
                            continue
                        at = ready[machine, other]
                        if copied:
                            work = prepare[machine * units] * size[other]
                            at = max(at, unit[port[machine]]) + work if work > 0 else at
                        if at > now:
                            soonest = min(soonest, at)
                        elif parent >= 0:
                            lasts = transfer[machine * pairs, parent * pairs] * size[other]
                            at = max(in_port[port[parent]], unit[port[parent]] - lasts - backlog)
                            at -= latency[machine * pairs, parent * pairs]
                            soonest = min(soonest, at) if at > now else soonest
                        elif pairs > 0 or freed_at[other] != moment:
                            free = huge
                            for taker in range(machines):
                                if whole[taker, other] or (not copied and given[taker, other]):
                                    continue
                                lasts = transfer[machine * pairs, taker * pairs] * size[other]
                                if lasts < 0:
                                    continue
                                at = in_port[port[taker]]
                                if not copied:
                                    at = max(at, unit[port[taker]] - lasts - backlog)
                                at -= latency[machine * pairs, taker * pairs]
                                if at > now:
                                    free = min(free, at)
                            freed[other], freed_at[other] = free, moment
                            soonest = min(soonest, free)
                        else:
                            soonest = min(soonest, freed[other])
                    wake[machine] = soonest
                    if soonest < huge:
                        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
                        heappush(heap, (soonest, (seed >> 16) * machines + machine))
                looks = 0
                continue
            if sender >= 0:
                receiver = parents[sender, segment]
                lasts = transfer[sender * pairs, receiver * pairs] * size[segment]
                at = max(in_port[port[receiver]], unit[port[receiver]] - lasts - backlog)
                if at - latency[sender * pairs, receiver * pairs] > now:
                    along[sender] = -2
                    continue
            else:
                copied = holders[segment] > 0
                fewest = 0
                for place in range(looks):
                    machine = looking[place]
                    if tried[machine, segment] == moment or ready[machine, segment] > now:
                        continue
                    if copied:
                        if not whole[machine, segment]:
                            continue
                        work = prepare[machine * units] * size[segment]
                        begin = max(ready[machine, segment], unit[port[machine]])
                        if work > 0 and begin + work > now:
                            continue
                        score = copied_by[port[machine]]
                        if manner & SPARE_PARTS:
                            score += 4 * left[port[machine]]
                    else:
                        if given[machine, segment]:
                            continue
                        score = -left[port[machine]]
                        if in_port[port[machine]] - latency[0, 0] > now:
                            score -= held
                    if sender < 0 or score < fewest:
                        sender, fewest = machine, score
                if sender < 0:
                    opened[segment] = False
                    continue
                receiver = -1
                first = huge
                seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
                offset = (seed >> 8) % max(1, takes)
                step = 0
                some = False
                while step < takes:
                    place = (offset + step) % takes
                    machine = takers[place]
                    lag = latency[sender * pairs, machine * pairs]
                    if in_port[port[machine]] - lag > now:
                        if pairs == 0:  # no longer free
                            takes -= 1
                            takers[place] = takers[takes]
                            offset = offset % max(1, takes)
                        else:
                            step += 1
                        continue
                    step += 1
                    if whole[machine, segment] or (not copied and given[machine, segment]):
                        continue
                    lasts = transfer[sender * pairs, machine * pairs] * size[segment]
                    if not copied and unit[port[machine]] - lasts - backlog - lag > now:
                        continue
                    some = True
                    if machine == sender or lasts < 0:
                        continue
                    at = now + lag + lasts
                    if copied:
                        score = 2 * owned[port[machine]]
                        if manner & BEHIND and out_port[port[machine]] > now:
                            score -= 1
                    else:
                        at = max(at, unit[port[machine]]) + combine[machine * units] * size[segment]
                        at = max(at, ready[machine, segment])
                        score = taken[port[machine]] if manner & BY_TAKEN else left[port[machine]]
                        if out_port[port[machine]] <= now and ready[machine, segment] <= now:
                            score += 2 * segments * machines
                        if manner & GATHERED and ready[machine, segment] <= now:
                            at += apart
                    if receiver < 0 or at < first or (at == first and score < fewest):
                        receiver, first, fewest = machine, at, score
                if receiver < 0:
                    tried[sender, segment] = moment
                    if pairs == 0 and not some:
                        opened[segment] = False
                    continue
        # send it
        copied = whole[sender, segment]
        lag = latency[sender * pairs, receiver * pairs]
        lasts = transfer[sender * pairs, receiver * pairs] * size[segment]
        start = ready[sender, segment]
        work = prepare[sender * units] * size[segment]
        if copied and work > 0:
            start = max(start, unit[port[sender]]) + work
            unit[port[sender]] = start
        start = max(out_port[port[sender]], in_port[port[receiver]] - lag, start)
        arrival = start + lag + lasts
        times[done, 0] = start
        times[done, 1] = arrival
        out_port[port[sender]] = start + lasts
        in_port[port[receiver]] = arrival
        if copied:
            holders[segment] += 1
            owned[port[receiver]] += 1
            copied_by[port[sender]] += 1
            whole[receiver, segment] = True
            due[segment] = end - (back[machines - 1] - back[holders[segment] - 1])
        else:
            work = combine[receiver * units] * size[segment]
            if work > 0:
                arrival = max(arrival, unit[port[receiver]]) + work
                unit[port[receiver]] = arrival
            given[sender, segment] = True
            got[receiver, segment] += 1
            left[port[sender]] -= 1
            taken[port[receiver]] += 1
            parts[segment] -= 1
            due[segment] = complete[segment] - there[parts[segment] - 1]
            if parts[segment] == 1:
                whole[receiver, segment] = True
                holders[segment] = 1
                left[port[receiver]] -= 1
                owned[port[receiver]] += 1
                opened[segment] = True
                due[segment] = end - back[machines - 1]
        due[segment] += moved[segment]
        arrival = max(arrival, ready[receiver, segment])
        ready[receiver, segment] = arrival
        if scripted < 0 and arrival <= now:  # it took no time
            opened[segment] = whole[receiver, segment] or open_parts
            along[receiver] = -2
        last = max(last, arrival)
        if last >= allowed:
            return zero - 1
        rows[done, 0] = sender
        rows[done, 1] = receiver
        rows[done, 2] = segment
        rows[done, 3] = 1 if copied else 0
        done += 1
        if scripted < 0:
            seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
            place = 0
            while place < looks:
                machine = looking[place]
                if port[machine] != port[sender]:
                    place += 1
                else:
                    looks -= 1
                    looking[place] = looking[looks]
                    wake[machine] = out_port[port[sender]]
                    heappush(heap, (wake[machine], (seed >> 16) * machines + machine))
            soonest = max(arrival, out_port[port[receiver]])
            if soonest < wake[receiver]:
                wake[receiver] = soonest
                heappush(heap, (soonest, (seed >> 16) * machines + receiver))
    return last
