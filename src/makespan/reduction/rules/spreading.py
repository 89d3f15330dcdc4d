"""The loop of the rarest-first greedy: a broadcast, one copy after another.

A reduction is planned as the broadcast that it is in reversed time, in which a sender spends
``prepare`` per copy.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from makespan.core.numeric.jit import loop

RELEASE_FIRST = 1  # who has a segment first sends a new one whenever there is one
NEEDIEST = 2  # of equally early receivers the one with the fewest segments, else any
IN_TIME = 4  # what could not grow to all machines by ``goal`` goes before what is rare
NOT_TWICE = 8  # over shared links goes only what nobody has who needs none to get there
PATIENT = 16  # who waits for a shared link decides anew when it is free
FARTHEST = 32  # not what is rarest, but what has most machines to get to, on its way through others


@loop(pays_from=400)
def spread(  # type: ignore[no-untyped-def]
    holds, lacks, latency, transfer, prepare, size, release, shared, ahead, links, exits, entries,
    owner, first, offered, seed, style, script, copies, times, allowed, goal, growing, stop,
):  # fmt: skip
    """Send all segments to all machines that lack them; return the time of the last arrival.

    The port that is free first sends: of the segments that its machine holds, one with the fewest
    holders that a machine can take at once, to a machine that can take it first. Ties at random
    from ``seed``. ``growing`` are the times at which one holder has made 0, 1, … others, and they
    theirs, for :data:`IN_TIME`. What lacks a segment must be linked to somebody that has it, by
    others that lack it.

    ``latency`` and ``transfer`` are (sender, receiver) tables, or 1 × 1 where they are the same
    everywhere, and a missing link takes less than 0; ``prepare`` has an entry per sender, or one.
    ``shared`` are the links, then -1, that each pair shares with others, and ``ahead`` the latency
    before them, None where none is shared; ``links`` is how many there are. ``exits`` and
    ``entries`` are the ports of each pair, None where every machine has one of each; ``owner`` is
    whose each sending port is, and ``first`` the first one of each machine. ``holds`` and
    ``lacks`` (machine, segment) say who has what from ``release`` on, and who gets it; ``offered``
    is the order in which each sends what it has from the start. ``script`` rows (sender, receiver,
    segment) are sent first, in order. ``copies`` gets all rows, ``times`` their starts and
    arrivals. Stops early, with -1, when the end can't be below ``allowed``, or as soon as ``stop``
    says so.
    """
    machines, segments = holds.shape
    spread_pairs = 1 if latency.shape[0] > 1 else 0
    spread_units = 1 if prepare.shape[0] > 1 else 0
    ports = owner.shape[0]
    most = max(machines, ports)
    # tables of few types: what makes one is compiled for each
    hold = np.zeros((machines, segments), latency.dtype)
    hold[:] = -1
    entered = machines if entries is None else entries.max() + 1
    clock = np.zeros((4, max(most, entered, links)), latency.dtype)
    unit, out_port, in_port, link = clock[0], clock[1], clock[2], clock[3]
    near = np.zeros((segments if shared is not None else 0, machines), np.bool_)
    once = (style & 8) != 0
    if shared is not None and once:  # who gets what from somebody without shared links
        for machine in range(machines):
            for other in range(machines):
                if shared[machine, other, 0] < 0 and transfer[machine, other] >= 0:
                    for segment in range(segments):
                        if holds[machine, segment]:
                            near[segment, other] = True
    idle = np.zeros((1, ports), np.bool_)[0]
    queued = np.zeros((1, segments), np.bool_)[0]
    of_segment = np.zeros((3, segments), copies.dtype)
    holders, left, active = of_segment[0], of_segment[1], of_segment[2]
    lacking = np.empty((segments, machines), np.int32)
    place = np.empty((segments, machines), np.int32)
    active_count = 0
    end = latency[0, 0] * 0
    # what machines have from the start, one after another; ``released`` is where each port stands
    count = 0
    for machine in range(machines):
        for segment in range(segments):
            if holds[machine, segment]:
                count += 1
    own = np.zeros((1, count), copies.dtype)[0]
    of_machine = np.zeros((3, most), copies.dtype)
    owned, released, until = of_machine[0], of_machine[1], of_machine[2]
    count = total = 0
    for machine in range(machines):
        released[first[machine] : first[machine + 1]] = count
        for segment in offered:
            if holds[machine, segment]:
                hold[machine, segment] = release[segment]
                holders[segment] += 1
                own[count] = segment
                count += 1
            elif lacks[machine, segment]:
                lacking[segment, left[segment]] = machine
                place[segment, machine] = left[segment]
                left[segment] += 1
                total += 1
        until[machine] = count
    for segment in range(segments):
        queued[segment] = left[segment] == 0
    heap = [(latency[0, 0] * 0, 0)]
    heap.pop()
    for port in range(ports):
        if until[owner[port]] > released[port]:
            heap.append((latency[0, 0] * 0, port))
        else:
            idle[port] = True
    written = 0
    scripted = script.shape[0]
    while written < total:
        if stop[0] != 0:
            return latency[0, 0] * 0 - 1  # of the same type; what is allowed may be infinite
        if written < scripted:
            sender = script[written, 0]
            receiver = script[written, 1]
            segment = script[written, 2]
            port = sender if exits is None else exits[sender, receiver]
        else:
            if written == scripted and scripted > 0:
                scripted = 0  # only once: wake everyone who holds something
                heap.clear()
                for other in range(ports):
                    idle[other] = False
                    heappush(heap, (out_port[other], other))
            now, port = heappop(heap)
            sender = owner[port]
            work = prepare[sender * spread_units]
            # what the sender can send first, and of that the rarest
            segment = -1
            best = 0.0
            soonest = now
            some = False
            if released[port] < until[sender]:
                while released[port] < until[sender]:
                    new = own[released[port]]
                    able = not queued[new]
                    if able and spread_pairs > 0:
                        able = False
                        for step in range(left[new]):
                            other = lacking[new, step]
                            if exits is not None and exits[sender, other] != port:
                                continue
                            if transfer[sender, other] >= 0:
                                able = True
                                if shared is not None:
                                    far = shared[sender, other, 0] >= 0
                                    able = not (once and far and near[new, other])
                                if able:
                                    break
                    if able:
                        break
                    released[port] += 1
                if released[port] < until[sender]:
                    new = own[released[port]]
                    ready = max(
                        max(hold[sender, new], unit[port]) + work * size[new], out_port[port]
                    )
                    if ready <= now:
                        segment, best = new, 1.0
                        if style & 32:
                            best = float(machines - left[new])
                    else:
                        some, soonest = True, ready
            if segment < 0 or not (style & 1):
                position = 0
                while position < active_count:
                    other = active[position]
                    if left[other] == 0:
                        active_count -= 1
                        active[position] = active[active_count]
                        continue
                    position += 1
                    if hold[sender, other] < 0:
                        continue
                    ready = max(
                        max(hold[sender, other], unit[port]) + work * size[other], out_port[port]
                    )
                    if ready > now:
                        if not some or ready < soonest:
                            some, soonest = True, ready
                        continue
                    seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
                    missing = left[other]
                    rare = machines - missing if style & 32 else holders[other]
                    score = rare + (seed >> 8) / 8388608.0
                    if style & 4:
                        spare = -missing
                        for machine in range(machines):
                            since = hold[machine, other]
                            if since >= 0:
                                since = goal - max(since, now, out_port[first[machine]])
                                low, high = 0, growing.shape[0]
                                while low < high:
                                    middle = (low + high) // 2
                                    if growing[middle] <= since:
                                        low = middle + 1
                                    else:
                                        high = middle
                                spare += max(low - 1, 0)
                                if spare >= machines:
                                    break
                        if spare < machines:
                            score += spare - 4.0 * machines
                    if segment >= 0 and score >= best:
                        continue
                    waits = True
                    able = False
                    for step in range(missing):
                        machine = lacking[other, step]
                        if exits is not None and exits[sender, machine] != port:
                            continue
                        if transfer[sender * spread_pairs, machine * spread_pairs] < 0:
                            continue
                        if shared is not None:
                            far = shared[sender, machine, 0] >= 0
                            if once and far and near[other, machine]:
                                continue
                        able = True
                        lag = latency[sender * spread_pairs, machine * spread_pairs]
                        entry = machine if entries is None else entries[sender, machine]
                        if in_port[entry] - lag <= now:
                            waits = False
                            if shared is not None:
                                for way in range(shared.shape[2]):
                                    on = shared[sender, machine, way]
                                    if on >= 0 and link[on] - ahead[sender, machine, way] > now:
                                        waits = True
                                if waits:
                                    continue
                            break
                    if not able:
                        continue
                    if waits:
                        score += 8.0 * machines
                    if segment < 0 or score < best:
                        segment, best = other, score
            if segment < 0:
                if some:
                    heappush(heap, (soonest, port))
                else:
                    idle[port] = True
                continue
            # who can take it first
            count = left[segment]
            seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
            offset = (seed >> 8) % count
            receiver = -1
            earliest = now
            fewest = 0
            seen = 0
            for step in range(count):
                other = lacking[segment, (offset + step) % count]
                if exits is not None and exits[sender, other] != port:
                    continue
                if transfer[sender * spread_pairs, other * spread_pairs] < 0:
                    continue
                far = False
                if shared is not None:
                    far = once and shared[sender, other, 0] >= 0
                    if far and near[segment, other]:
                        continue
                entry = other if entries is None else entries[sender, other]
                at = max(now, in_port[entry] - latency[sender * spread_pairs, other * spread_pairs])
                if shared is not None:
                    for way in range(shared.shape[2]):
                        on = shared[sender, other, way]
                        if on >= 0:
                            at = max(at, link[on] - ahead[sender, other, way])
                if not far:  # a shared link that is free is not left idle
                    at += (
                        transfer[sender * spread_pairs, other * spread_pairs]
                        + latency[sender * spread_pairs, other * spread_pairs]
                    ) * spread_pairs
                better = receiver < 0 or at < earliest
                if not better and at == earliest and style & 2:
                    better = owned[other] < fewest
                if better:
                    receiver, earliest, fewest = other, at, owned[other]
                if at <= now:
                    seen += 1
                    if seen >= 16 or not (style & 2):
                        break
            if (
                shared is not None
                and style & 16
                and earliest > now
                and shared[sender, receiver, 0] >= 0
            ):
                heappush(heap, (earliest, port))
                continue
        # send it
        work = prepare[sender * spread_units] * size[segment]
        lag = latency[sender * spread_pairs, receiver * spread_pairs]
        lasts = transfer[sender * spread_pairs, receiver * spread_pairs] * size[segment]
        entry = receiver if entries is None else entries[sender, receiver]
        begin = max(hold[sender, segment], unit[port]) + work
        start = max(begin, out_port[port], in_port[entry] - lag)
        if shared is not None:
            for way in range(shared.shape[2]):
                on = shared[sender, receiver, way]
                if on >= 0:
                    start = max(start, link[on] - ahead[sender, receiver, way])
            for way in range(shared.shape[2]):
                on = shared[sender, receiver, way]
                if on >= 0:
                    link[on] = start + ahead[sender, receiver, way] + lasts
        arrival = start + lag + lasts
        unit[port] = begin
        out_port[port] = start + lasts
        in_port[entry] = arrival
        hold[receiver, segment] = arrival
        if shared is not None and once:
            for other in range(machines):
                if shared[receiver, other, 0] < 0 and transfer[receiver, other] >= 0:
                    near[segment, other] = True
        end = max(end, arrival)
        if end >= allowed:
            return latency[0, 0] * 0 - 1  # of the same type; what is allowed may be infinite
        copies[written, 0] = sender
        copies[written, 1] = receiver
        copies[written, 2] = segment
        times[written, 0] = start
        times[written, 1] = arrival
        written += 1
        if not queued[segment]:
            queued[segment] = True
            active[active_count] = segment
            active_count += 1
        owned[receiver] += 1
        where = place[segment, receiver]
        left[segment] -= 1
        final = left[segment]
        moved = lacking[segment, final]
        lacking[segment, where] = moved
        place[segment, moved] = where
        holders[segment] += 1
        if written > scripted or scripted == 0:
            following = prepare[sender * spread_units] * size[segment]
            heappush(heap, (max(out_port[port], unit[port] + following), port))
            for other in range(first[receiver], first[receiver + 1]):
                if idle[other]:
                    idle[other] = False
                    heappush(heap, (arrival, other))
    return end
