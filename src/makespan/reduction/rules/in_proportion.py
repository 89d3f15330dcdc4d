"""The loop that sends over every way in proportion to what a packing of trees sends there.

Source: Massoulié, Twigg, Gkantsidis and Rodriguez 2007, "Randomized decentralized broadcasting
algorithms": whoever sends over every link, at its rate, any segment that the other end lacks,
broadcasts as fast as the tightest cut lets all.
"""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.jit import loop

UNEVEN = 1  # ways take more or less than their turns, at random
NEEDED = 2  # what most of those that the taker can send to lack, not what fewest have
ROOM = 64
"""Transfers on their way to a port or a link; more wait."""


@loop(pays_from=400)
def in_proportion(  # type: ignore[no-untyped-def]
    holds, size, giver, taker, latency, lasts, prepare, occupied, after, stride, member, kept,
    kept_from, begin, seed, style, allowed, copies, start, stop,
):  # fmt: skip
    """Send all segments to all machines; return when the last arrives, or -1.

    Of all ways that are free now, the one that is most behind takes the next segment: a way gets
    ``stride`` further with each, 1 over its share. The ways are those of
    :class:`~makespan.reduction.rules.occupation.Occupation`. Bit g of ``member`` says which
    machines are in group g: nothing goes there that somebody in it has. What would arrive at
    ``allowed`` or later is not sent. ``kept`` are copies that are made first, at the times
    ``kept_from``, and nothing else starts before ``begin``. ``copies`` gets all rows (giver, taker,
    segment), ``start`` when they start. Stops early when ``stop`` says so.
    """
    machines, segments = holds.shape
    ways = len(giver)
    most = occupied.shape[1]
    zero = latency[0] * 0
    never = allowed * 0 + 4 * allowed
    least = size.min()
    number = occupied.max() + 1
    busy_from = np.zeros((number, ROOM), latency.dtype)
    busy_until = np.zeros((number, ROOM), latency.dtype)
    busy = np.zeros(number, np.int64)
    unit = np.zeros(number, latency.dtype)
    has_from = np.full((machines, segments), never)
    gets = np.zeros((machines, segments), np.bool_)
    holders = np.zeros(segments, np.int64)
    lack = np.zeros((machines, segments), np.int64)  # of those a machine has ways to
    inside = np.zeros(segments, np.int64)  # the groups in which somebody has it
    turn = np.zeros(ways)
    soonest = np.full(ways, zero)
    total = 0
    for machine in range(machines):
        for segment in range(segments):
            if holds[machine, segment]:
                has_from[machine, segment] = zero
                gets[machine, segment] = True
                holders[segment] += 1
                inside[segment] |= member[machine]
            else:
                total += 1
    for way in range(ways):
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        turn[way] = stride[way] * (seed >> 8) / 8388608.0
        for segment in range(segments):
            if not gets[taker[way], segment]:
                lack[giver[way], segment] += 1
    script = len(kept)
    written = 0
    now = zero
    end = zero
    while written < total:
        if stop[0] != 0:
            return zero - 1
        best = -1
        item = -1
        following = never
        if written < script:
            best = kept[written, 0]
            item = kept[written, 1]
            now = kept_from[written]
        else:
            if written == script and now < begin:
                now = begin
            for way in range(ways):
                if soonest[way] > now:
                    following = min(following, soonest[way])
                    continue
                if best >= 0 and turn[way] >= turn[best]:
                    continue
                # when the ports and the shared links on the way are free
                at = now
                if prepare[way] > 0:
                    at = max(at, unit[occupied[way, 0]] + prepare[way] * least)
                moved = True
                while moved:
                    moved = False
                    for place in range(most):
                        port = occupied[way, place]
                        if port < 0:
                            continue
                        ahead = after[way, place]
                        row = 0
                        first = never
                        while row < busy[port]:
                            until = busy_until[port, row]
                            if until <= now:
                                busy[port] -= 1
                                busy_from[port, row] = busy_from[port, busy[port]]
                                busy_until[port, row] = busy_until[port, busy[port]]
                                continue
                            first = min(first, until)
                            if (
                                until > at + ahead
                                and busy_from[port, row] < at + ahead + lasts[way] * least
                                and until - ahead > at
                            ):
                                at = until - ahead
                                moved = True
                            row += 1
                        if busy[port] == ROOM and first > at:
                            at = first
                            moved = True
                if at > now:
                    soonest[way] = at
                    following = min(following, at)
                    continue
                # which segment, and else when there may be one
                chosen = -1
                score = 0.0
                sooner = never
                entered = member[taker[way]] & ~member[giver[way]]
                for segment in range(segments):
                    if gets[taker[way], segment] or inside[segment] & entered:
                        continue
                    ready = has_from[giver[way], segment]
                    if ready == never:
                        continue
                    ready += prepare[way] * size[segment]
                    if ready > now:
                        sooner = min(sooner, ready)
                        continue
                    if now + latency[way] + lasts[way] * size[segment] >= allowed:
                        continue
                    seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
                    value = holders[segment] + (seed >> 8) / 8388608.0
                    if style & NEEDED:
                        value = value / (2.0 * machines) - lack[taker[way], segment]
                    if chosen < 0 or value < score:
                        chosen = segment
                        score = value
                if chosen < 0:
                    soonest[way] = sooner
                    following = min(following, sooner)
                    continue
                best = way
                item = chosen
        if best < 0:
            if following >= never:
                return zero - 1
            now = following
            continue
        to = taker[best]
        work = lasts[best] * size[item]
        for place in range(most):
            port = occupied[best, place]
            if port >= 0:
                if busy[port] == ROOM:  # of what is kept: what is over by then goes first
                    row = int(np.argmin(busy_until[port]))
                    busy[port] -= 1
                    busy_from[port, row] = busy_from[port, busy[port]]
                    busy_until[port, row] = busy_until[port, busy[port]]
                busy_from[port, busy[port]] = now + after[best, place]
                busy_until[port, busy[port]] = now + after[best, place] + work
                busy[port] += 1
        unit[occupied[best, 0]] = now
        arrival = now + latency[best] + work
        if arrival >= allowed:
            return zero - 1
        end = max(end, arrival)
        has_from[to, item] = arrival
        gets[to, item] = True
        holders[item] += 1
        inside[item] |= member[to]
        copies[written, 0] = giver[best]
        copies[written, 1] = to
        copies[written, 2] = item
        start[written] = now
        written += 1
        further = 1.0
        if style & UNEVEN:
            seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
            further = 0.85 + 0.3 * (seed >> 8) / 8388608.0
        turn[best] += stride[best] * further
        for way in range(ways):
            if taker[way] == to:
                lack[giver[way], item] -= 1
            if giver[way] == to:
                soonest[way] = min(soonest[way], arrival + prepare[way] * size[item])
    return end
