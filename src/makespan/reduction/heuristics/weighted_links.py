"""The loop that sends over every way in proportion to what a packing of trees sends there.

Source: Massoulié, Twigg, Gkantsidis and Rodriguez 2007, "Randomized decentralized broadcasting
algorithms": whoever sends over every link, at its rate, any segment that the other end lacks,
broadcasts as fast as the tightest cut lets all.
"""

import numpy as np

from makespan.core.numeric.jit import loop, next_seed, part, uniform
from makespan.reduction.heuristics import greatest

UNEVEN = 1  # ways take more or less than their turns, at random
NEEDED = 2  # what most of those that the taker can send to lack, not what fewest have
ROOM = 64  # transfers on their way to a port or a link; more wait


@part
def _enter(  # type: ignore[no-untyped-def]
    holds, member, giver, taker, has_from, gets, holders, inside, lack
):
    """Enter who has what from the start; return how many copies there are to make."""
    machines, segments = holds.shape
    total = 0
    for machine in range(machines):
        for segment in range(segments):
            if holds[machine, segment]:
                has_from[machine, segment] = 0
                gets[machine, segment] = True
                holders[segment] += 1
                inside[segment] |= member[machine]
            else:
                total += 1
    for way in range(len(giver)):
        for segment in range(segments):
            if not gets[taker[way], segment]:
                lack[giver[way], segment] += 1
    return total


@part
def _forget(port, row, busy, busy_from, busy_until):  # type: ignore[no-untyped-def]
    """Take a transfer off the list of those on their way to a port: the last takes its place."""
    busy[port] -= 1
    busy_from[port, row] = busy_from[port, busy[port]]
    busy_until[port, row] = busy_until[port, busy[port]]


@part
def _free_from(  # type: ignore[no-untyped-def]
    way, now, at, lasts, never, occupied, after, busy, busy_from, busy_until
):
    """Return from when on, after ``at``, all ports and links on a way are free for so long.

    Transfers that are over are forgotten.
    """
    moved = True
    while moved:
        moved = False
        for place in range(occupied.shape[1]):
            port = occupied[way, place]
            if port < 0:
                continue
            ahead = after[way, place]
            row = 0
            first = never
            while row < busy[port]:
                until = busy_until[port, row]
                if until <= now:
                    _forget(port, row, busy, busy_from, busy_until)
                    continue
                first = min(first, until)
                if (
                    until > at + ahead
                    and busy_from[port, row] < at + ahead + lasts
                    and until - ahead > at
                ):
                    at = until - ahead
                    moved = True
                row += 1
            if busy[port] == ROOM and first > at:
                at = first
                moved = True
    return at


@part
def _choose(  # type: ignore[no-untyped-def]
    way, now, seed, style, allowed, never, giver, taker, latency, lasts, prepare, size, member,
    has_from, gets, holders, inside, lack,
):  # fmt: skip
    """Return the segment that a way takes now, -1 for none, when there may be one, and the seed.

    That is the rarest; for :data:`NEEDED`, what most of those lack that the taker can send to.
    """
    chosen = -1
    score = 0.0
    sooner = never
    to = taker[way]
    entered = member[to] & ~member[giver[way]]  # groups in which nobody may have it
    for segment in range(len(size)):
        if gets[to, segment] or inside[segment] & entered:
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
        seed = next_seed(seed)
        value = holders[segment] + uniform(seed)
        if style & NEEDED:
            value = value / (2.0 * len(gets)) - lack[to, segment]
        if chosen < 0 or value < score:
            chosen = segment
            score = value
    return chosen, sooner, seed


@part
def _occupy(way, now, lasts, occupied, after, busy, busy_from, busy_until):  # type: ignore[no-untyped-def]
    """Enter a transfer at all ports and links on a way."""
    for place in range(occupied.shape[1]):
        port = occupied[way, place]
        if port >= 0:
            if busy[port] == ROOM:  # of what is kept: what is over by then goes first
                over = 0
                for row in range(1, ROOM):
                    over = row if busy_until[port, row] < busy_until[port, over] else over
                _forget(port, over, busy, busy_from, busy_until)
            busy_from[port, busy[port]] = now + after[way, place]
            busy_until[port, busy[port]] = now + after[way, place] + lasts
            busy[port] += 1


@loop(pays_from=400)
def follow_packing(  # type: ignore[no-untyped-def]
    holds, size, giver, taker, latency, lasts, prepare, occupied, after, stride, member, kept,
    kept_from, begin, seed, style, allowed, copies, start, stop,
):  # fmt: skip
    """Send all segments to all machines; return when the last arrives, or -1.

    Of all ways that are free now, the one that is most behind takes the next segment. The ways are
    those of :class:`~makespan.reduction.heuristics.symmetry.Occupation`.

    - ``holds``: (machine, segment) Who has what from the start.
    - ``stride``: (way) By how much a way gets further with each segment: 1 over its share.
    - ``member``: (machine) Bit g says whether it is in group g: nothing goes there that somebody in
      it has.
    - ``kept``, ``kept_from``: (row, 2), (row) Ways and segments of copies that are made first, and
      their starts.
    - ``begin``: from when on others start.
    - ``seed``, ``style``: of the random numbers; :data:`UNEVEN` and :data:`NEEDED`.
    - ``allowed``, ``stop``: what would arrive at ``allowed`` is not sent; stops soon after
      ``stop[0]`` is no longer 0.
    - ``copies``, ``start``: (row, 3), (row) Get giver, taker and segment of all, and when they
      start.
    """
    machines, segments = holds.shape
    ways = len(giver)
    zero = latency[0] * 0
    never = allowed * 0 + 4 * allowed
    least = size[0]
    for segment in range(segments):
        least = min(least, size[segment])
    number = greatest(occupied) + 1
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
    total = _enter(holds, member, giver, taker, has_from, gets, holders, inside, lack)
    for way in range(ways):
        seed = next_seed(seed)
        turn[way] = stride[way] * (seed >> 8) / 8388608.0
    script = len(kept)
    written = 0
    now = end = zero
    while written < total:
        if stop[0] != 0:
            return zero - 1
        best = item = -1
        following = never  # when a way may be free, or something ready
        if written < script:
            best, item, now = kept[written, 0], kept[written, 1], kept_from[written]
        else:
            if written == script and now < begin:
                now = begin
            for way in range(ways):
                if soonest[way] > now:
                    following = min(following, soonest[way])
                    continue
                if best >= 0 and turn[way] >= turn[best]:
                    continue
                at = now
                if prepare[way] > 0:
                    at = max(at, unit[occupied[way, 0]] + prepare[way] * least)
                at = _free_from(
                    way, now, at, lasts[way] * least, never, occupied, after, busy, busy_from,
                    busy_until,
                )  # fmt: skip
                chosen = -1
                if at <= now:
                    chosen, at, seed = _choose(
                        way, now, seed, style, allowed, never, giver, taker, latency, lasts,
                        prepare, size, member, has_from, gets, holders, inside, lack,
                    )  # fmt: skip
                if chosen < 0:
                    soonest[way] = at
                    following = min(following, at)
                    continue
                best, item = way, chosen
        if best < 0:
            if following >= never:
                return zero - 1
            now = following
            continue
        to = taker[best]
        work = lasts[best] * size[item]
        _occupy(best, now, work, occupied, after, busy, busy_from, busy_until)
        unit[occupied[best, 0]] = now
        arrival = now + latency[best] + work
        if arrival >= allowed:
            return zero - 1
        end = max(end, arrival)
        has_from[to, item] = arrival
        gets[to, item] = True
        holders[item] += 1
        inside[item] |= member[to]
        copies[written, 0], copies[written, 1], copies[written, 2] = giver[best], to, item
        start[written] = now
        written += 1
        further = 1.0
        if style & UNEVEN:
            seed = next_seed(seed)
            further = 0.85 + 0.3 * (seed >> 8) / 8388608.0
        turn[best] += stride[best] * further
        for way in range(ways):
            if taker[way] == to:
                lack[giver[way], item] -= 1
            if giver[way] == to:
                soonest[way] = min(soonest[way], arrival + prepare[way] * size[item])
    return end
