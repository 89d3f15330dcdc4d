"""The loop of the earliest-due-date greedy: an all-reduce, one send after another."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from makespan.core.numeric.jit import loop


@loop(pays_from=2_000)
def combine_and_copy(  # type: ignore[no-untyped-def]
    latency, transfer, combine, prepare, size, parents, children, dues, there, back, script, rows,
    times, complete, end, spread, seed, allowed, huge, stop,
):  # fmt: skip
    """Combine each segment somewhere and copy it to all; return when the last send is done.

    A machine whose port is free makes the send that is due first, of those that it can make at
    once: a part of a segment that is to be complete at ``complete[segment]``, or a copy of one
    that all must hold by ``end``. ``there`` and ``back`` are when one holder has made 0, 1, …
    others, going backwards and forwards: where so many machines still hold a part, or hold it all,
    the next send is due that long before the one or the end. Due dates are moved by up to
    ``spread`` at random from ``seed``.

    ``latency`` and ``transfer`` are (sender, receiver) tables, negative transfers where there is no
    link, or 1 × 1. ``combine`` is what a receiver spends on a part, ``prepare`` a sender on a copy:
    an entry per machine, or one. ``parents`` (machine, segment) says where a part goes, ``dues``
    when it is due, ``children`` how many are waited for; a parent of -1 leaves all open. ``script``
    rows (sender, receiver, segment) are sent first, in order. ``rows`` gets all sends in their
    order, with whether they are copies, ``times`` their starts and arrivals. Returns -1 where the
    end can't be below ``allowed``, where no machine can go on, or when ``stop`` says so.
    """
    machines, segments = parents.shape
    pairs = 1 if latency.shape[0] > 1 else 0
    units = 1 if combine.shape[0] > 1 else 0
    zero = latency[0, 0] * 0
    ready = np.zeros((machines, segments), latency.dtype)  # when a machine has its part, or all
    whole = np.zeros((machines, segments), np.bool_)
    given = np.zeros((machines, segments), np.bool_)
    got = np.zeros((machines, segments), np.int64)
    parts = np.full(segments, machines)
    holders = np.zeros(segments, np.int64)
    owned = np.zeros(machines, np.int64)
    out_port = np.zeros(machines, latency.dtype)
    in_port = np.zeros(machines, latency.dtype)
    unit = np.zeros(machines, latency.dtype)
    wake = np.zeros(machines, latency.dtype)  # when a machine looks for a send, huge for never
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
                    wake[machine] = out_port[machine]
                    heappush(heap, (wake[machine], (seed >> 16) * machines + machine))
                scripted = -1
            if len(heap) == 0:
                return zero - 1
            now, code = heappop(heap)
            sender = code % machines
            if now != wake[sender]:
                continue
            segment = -1
            best = 0.0
            soonest = huge
            for other in range(segments):
                copied = whole[sender, other]
                if copied:
                    if holders[other] == machines:
                        continue
                    due = end - (back[machines - 1] - back[holders[other] - 1])
                elif given[sender, other] or got[sender, other] < children[sender, other]:
                    continue
                elif parents[sender, other] >= 0:
                    due = dues[sender, other]
                else:
                    due = complete[other] - there[parts[other] - 1]
                at = ready[sender, other]
                if copied:
                    work = prepare[sender * units] * size[other]
                    at = max(at, unit[sender]) + work if work > 0 else at
                if at > now:
                    soonest = min(soonest, at)
                    continue
                seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
                score = due + spread * (seed >> 8) / 8388608.0
                if segment >= 0 and score >= best:
                    continue
                free = huge  # when the first port of a receiver is
                parent = -1 if copied else parents[sender, other]
                for machine in range(machines) if parent < 0 else range(parent, parent + 1):
                    if whole[machine, other] or machine == sender:
                        continue
                    if not copied and given[machine, other]:
                        continue
                    if transfer[sender * pairs, machine * pairs] >= 0:
                        lag = latency[sender * pairs, machine * pairs]
                        free = min(free, in_port[machine] - lag)
                        if free <= now:
                            break
                if free <= now:
                    segment, best = other, score
                else:
                    soonest = min(soonest, free)
            wake[sender] = soonest
            if segment < 0:
                if soonest < huge:
                    heappush(heap, (soonest, code))
                continue
            # to whom it is there first; of equally early ones to whom has least
            copied = whole[sender, segment]
            receiver = -1 if copied else parents[sender, segment]
            if receiver < 0:
                seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
                first = huge
                fewest = 0
                for step in range(machines):
                    machine = ((seed >> 8) + step) % machines
                    if whole[machine, segment] or machine == sender:
                        continue
                    if not copied and given[machine, segment]:
                        continue
                    lasts = transfer[sender * pairs, machine * pairs]
                    lag = latency[sender * pairs, machine * pairs]
                    if lasts < 0 or in_port[machine] - lag > now:
                        continue
                    at = now + lag + lasts * size[segment]
                    if not copied:
                        at = max(at, unit[machine]) + combine[machine * units] * size[segment]
                        at = max(at, ready[machine, segment])
                    if receiver < 0 or at < first or (at == first and owned[machine] < fewest):
                        receiver, first, fewest = machine, at, owned[machine]
        # send it
        copied = whole[sender, segment]
        lag = latency[sender * pairs, receiver * pairs]
        lasts = transfer[sender * pairs, receiver * pairs] * size[segment]
        start = ready[sender, segment]
        work = prepare[sender * units] * size[segment]
        if copied and work > 0:
            start = max(start, unit[sender]) + work
            unit[sender] = start
        start = max(out_port[sender], in_port[receiver] - lag, start)
        arrival = start + lag + lasts
        times[done, 0] = start
        times[done, 1] = arrival
        out_port[sender] = start + lasts
        in_port[receiver] = arrival
        if copied:
            holders[segment] += 1
            owned[receiver] += 1
            whole[receiver, segment] = True
        else:
            work = combine[receiver * units] * size[segment]
            if work > 0:
                arrival = max(arrival, unit[receiver]) + work
                unit[receiver] = arrival
            given[sender, segment] = True
            got[receiver, segment] += 1
            parts[segment] -= 1
            if parts[segment] == 1:
                whole[receiver, segment] = True
                holders[segment] = 1
        ready[receiver, segment] = arrival
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
            wake[sender] = out_port[sender]
            heappush(heap, (wake[sender], (seed >> 16) * machines + sender))
            soonest = max(arrival, out_port[receiver])
            if soonest < wake[receiver]:
                wake[receiver] = soonest
                heappush(heap, (soonest, (seed >> 16) * machines + receiver))
    return last
