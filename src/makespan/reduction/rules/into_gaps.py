"""The loop that copies segments while ports are free of what is planned already."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from makespan.core.numeric.jit import loop

LOOKS = 128  # at machines, until a sender waits for one of them
ENOUGH = 16  # machines that can take a segment, of which the one with the least room does


@loop(pays_from=2_000)
def into_gaps(  # type: ignore[no-untyped-def]
    latency, transfer, prepare, roots, release, out_from, out_begin, in_from, in_begin, given,
    holders, children, lead, seed, rows, times, stop,
):  # fmt: skip
    """Copy segments from their roots, who have them from ``release`` on; return how many copies.

    Whoever's port is free sends: of the segments that it holds, what most lack, to one who can take
    it at once, and of those to whom the most is still to come. Sends that are planned begin at
    ``out_begin[out_from[i] : out_from[i + 1]]`` on machine i, in order, and receptions likewise;
    nothing delays them. The first ``given`` of them all are ``rows`` (sender, receiver, segment)
    and ``times``, when they start, to which the copies are added.

    No more than ``holders`` get a segment. Before a twentieth have it, each makes no more than
    ``children`` copies; and none but a segment's root makes ``lead`` more copies than all do on
    average. Times are whole, and the same for all; ``prepare`` is what a sender spends on a copy.
    Stops early, with -1, as soon as ``stop`` says so.

    Complexity: O(m + ``LOOKS``) for every time that one of n machines looks for what to send.
    """
    machines = out_from.shape[0] - 1
    segments = roots.shape[0]
    never = np.int64(2**62)
    hold = np.full((machines, segments), -1, np.int64)
    lacking = np.empty((segments, machines), np.int32)
    place = np.empty((segments, machines), np.int32)
    left = np.zeros(segments, np.int64)
    made = np.zeros((machines, segments), np.int32)
    made_in_all = np.zeros(machines, np.int64)
    owned = np.zeros(machines, np.int64)
    out_port = np.zeros(machines, np.int64)
    in_port = np.zeros(machines, np.int64)
    unit = np.zeros(machines, np.int64)
    out_next = out_from[:-1].copy()
    in_next = in_from[:-1].copy()
    wake = np.full(machines, never)
    tried = np.zeros(segments, np.bool_)
    for segment in range(segments):
        for machine in range(machines):
            if machine != roots[segment]:
                place[segment, machine] = left[segment]
                lacking[segment, left[segment]] = machine
                left[segment] += 1
        hold[roots[segment], segment] = release[segment]
        wake[roots[segment]] = min(wake[roots[segment]], release[segment])
    heap = [(never, 0)]
    heap.pop()
    for machine in range(machines):
        if wake[machine] < never:
            heappush(heap, (wake[machine], machine))
    written = 0
    while written < given or len(heap) > 0:
        if stop[0] != 0:
            return -1
        if written < given:
            sender, receiver, segment = rows[written, 0], rows[written, 1], rows[written, 2]
            arrival = times[written] + latency + transfer
        else:
            now, sender = heappop(heap)
            if wake[sender] != now:
                continue
            wake[sender] = never
            at = max(out_port[sender], now)
            while (
                out_next[sender] < out_from[sender + 1]
                and out_begin[out_next[sender]] + transfer <= now
            ):
                out_next[sender] += 1
            step = out_next[sender]
            while step < out_from[sender + 1] and out_begin[step] < at + transfer:
                at = max(at, out_begin[step] + transfer)
                step += 1
            if at > now:
                wake[sender] = at
                heappush(heap, (at, sender))
                continue
            soonest = never
            receiver = segment = -1
            looks = fewest = 0
            tried[:] = False
            while receiver < 0 and looks < LOOKS:
                segment = -1
                for other in range(segments):
                    lack = left[other]
                    if tried[other] or hold[sender, other] < 0 or machines - lack >= holders:
                        continue
                    if machines - lack < machines // 20 and made[sender, other] >= children:
                        continue
                    ready = hold[sender, other]
                    if prepare > 0:
                        ready = max(ready, unit[sender]) + prepare
                    ahead = made_in_all[sender] * machines - written
                    if roots[other] != sender and ahead >= lead * machines:
                        ready = max(ready, now + max(transfer, 1))
                    if ready > now:
                        soonest = min(soonest, ready)
                    elif segment < 0 or lack > left[segment]:
                        segment = other
                if segment < 0:
                    break
                tried[segment] = True
                seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
                count = left[segment]
                offset = (seed >> 8) % count
                found = 0
                for step in range(min(count, LOOKS)):
                    looks += 1
                    taker = lacking[segment, (offset + step) % count]
                    at = max(now + latency, in_port[taker])
                    while (
                        in_next[taker] < in_from[taker + 1]
                        and in_begin[in_next[taker]] + transfer <= now + latency
                    ):
                        in_next[taker] += 1
                    ahead = in_next[taker]
                    while ahead < in_from[taker + 1] and in_begin[ahead] < at + transfer:
                        at = max(at, in_begin[ahead] + transfer)
                        ahead += 1
                    if at > now + latency:
                        soonest = min(soonest, at - latency)
                        continue
                    score = owned[taker] - (in_from[taker + 1] - in_next[taker])
                    if receiver < 0 or score < fewest:
                        receiver, fewest = taker, score
                    found += 1
                    if found >= ENOUGH:
                        break
            if receiver < 0:
                if soonest < never:
                    wake[sender] = soonest
                    heappush(heap, (soonest, sender))
                continue
            rows[written, 0], rows[written, 1], rows[written, 2] = sender, receiver, segment
            times[written] = now
            arrival = now + latency + transfer
            if prepare > 0:
                unit[sender] = max(hold[sender, segment], unit[sender]) + prepare
            out_port[sender] = wake[sender] = now + transfer
            heappush(heap, (wake[sender], sender))
            in_port[receiver] = arrival
            made[sender, segment] += 1
            made_in_all[sender] += 1
        written += 1
        hold[receiver, segment] = arrival
        owned[receiver] += 1
        left[segment] -= 1
        moved = lacking[segment, left[segment]]
        lacking[segment, place[segment, receiver]] = moved
        place[segment, moved] = place[segment, receiver]
        if arrival < wake[receiver]:
            wake[receiver] = arrival
            heappush(heap, (arrival, receiver))
    return written
