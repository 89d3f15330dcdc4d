"""The loop of a local search that takes sends of a segment out of a plan and grows them anew.

Source: Schrimpf, Schneider, Stamm-Wilbrandt and Dueck 2000, "Record breaking optimization results
using the ruin and recreate principle"; Kirkpatrick, Gelatt and Vecchi 1983, simulated annealing.
"""

import math

import numpy as np

from makespan.core.numeric.jit import loop, part
from makespan.core.numeric.random import next_seed, uniform
from makespan.reduction.heuristics import copy_rows, greatest
from makespan.reduction.heuristics.critical_path import NOTHING, time_sends, trace_waits

GIVING, TAKING, PREPARING = range(3)  # of what is busy


@part
def _occupy(sort, machine, begin, until, busy, busy_from, busy_until):  # type: ignore[no-untyped-def]
    """Enter a span of time in which a port or unit is busy, in the order of begins."""
    place = busy[sort, machine]
    busy[sort, machine] += 1
    while place > 0 and busy_from[sort, machine, place - 1] > begin:
        busy_from[sort, machine, place] = busy_from[sort, machine, place - 1]
        busy_until[sort, machine, place] = busy_until[sort, machine, place - 1]
        place -= 1
    busy_from[sort, machine, place], busy_until[sort, machine, place] = begin, until


@part
def _enter_row(back, sender, receiver, start, lag, lasts, work, busy, busy_from, busy_until):  # type: ignore[no-untyped-def]
    """Enter a send at the ports of both ends, and at the unit; in reversed time where ``back``."""
    if back:
        begin = -(start + lag + lasts)
        _occupy(GIVING, receiver, begin, begin + lasts, busy, busy_from, busy_until)
        _occupy(TAKING, sender, begin + lag, begin + lag + lasts, busy, busy_from, busy_until)
        if work > 0:
            _occupy(PREPARING, receiver, begin - work, begin, busy, busy_from, busy_until)
    else:
        _occupy(GIVING, sender, start, start + lasts, busy, busy_from, busy_until)
        _occupy(TAKING, receiver, start + lag, start + lag + lasts, busy, busy_from, busy_until)


@part
def _gap(giver, taker, at, lag, lasts, work, busy, busy_from, busy_until):  # type: ignore[no-untyped-def]
    """Return from when on, after ``at``, both ports and the giver's unit before have room."""
    out = into = unit = 0
    moved = True
    while moved:
        moved = False
        while out < busy[0, giver] and busy_until[0, giver, out] <= at:
            out += 1
        if out < busy[0, giver] and busy_from[0, giver, out] < at + lasts:
            at = busy_until[0, giver, out]
            moved = True
        while into < busy[1, taker] and busy_until[1, taker, into] <= at + lag:
            into += 1
        if into < busy[1, taker] and busy_from[1, taker, into] < at + lag + lasts:
            at = busy_until[1, taker, into] - lag
            moved = True
        if work > 0:
            while unit < busy[2, giver] and busy_until[2, giver, unit] <= at - work:
                unit += 1
            if unit < busy[2, giver] and busy_from[2, giver, unit] < at:
                at = busy_until[2, giver, unit] + work
                moved = True
    return at


@part
def _grow(  # type: ignore[no-untyped-def]
    trial, begin, gone, segment, back, latency, transfer, combine, size, has, ready, favour, dear,
    busy, busy_from, busy_until, best, giver, start,
):  # fmt: skip
    """Send a segment from those that have it to those that lack it, where ports have room.

    Rows that are ``gone`` are filled. Who can have it first, gets it, but that ``favour`` is added
    for the taker, and ``dear`` times what the send takes. ``has`` (machine) is 2 for those that
    have it at ``ready``, 1 for those that lack it.
    """
    machines = len(has)
    huge = ready[0] * 0 + 2**40
    pairs = 1 if latency.shape[0] > 1 else 0
    units = 1 if combine.shape[0] > 1 else 0
    lacking = 0
    for taker in range(machines):
        best[taker] = huge
        lacking += has[taker] == 1
    row = 0
    fresh = -1  # who has it since just now; first all that have it
    while lacking > 0:
        chosen = -1
        for taker in range(machines):
            if has[taker] != 1:
                continue
            for other in range(machines) if fresh < 0 else range(fresh, fresh + 1):
                if has[other] != 2:
                    continue
                one, two = (taker, other) if back else (other, taker)
                lasts = transfer[one * pairs, two * pairs] * size[segment]
                if lasts < 0 or ready[other] + lasts >= best[taker]:
                    continue
                lag = latency[one * pairs, two * pairs]
                work = combine[other * units] * size[segment] if back else lasts * 0
                at = _gap(
                    other, taker, ready[other] + work, lag, lasts, work, busy, busy_from,
                    busy_until,
                )  # fmt: skip
                value = at + lag + lasts + dear * lasts
                if value < best[taker]:
                    best[taker], giver[taker], start[taker] = value, other, at
            if best[taker] < huge and (
                chosen < 0 or best[taker] + favour[taker] < best[chosen] + favour[chosen]
            ):
                chosen = taker
        if chosen < 0:
            return False
        # what was found may have been taken since
        other = giver[chosen]
        one, two = (chosen, other) if back else (other, chosen)
        lasts = transfer[one * pairs, two * pairs] * size[segment]
        lag = latency[one * pairs, two * pairs]
        work = combine[other * units] * size[segment] if back else lasts * 0
        at = _gap(
            other, chosen, ready[other] + work, lag, lasts, work, busy, busy_from, busy_until
        )
        if at > start[chosen]:
            best[chosen] = huge
            for other in range(machines):
                if has[other] != 2:
                    continue
                one, two = (chosen, other) if back else (other, chosen)
                lasts = transfer[one * pairs, two * pairs] * size[segment]
                if lasts < 0 or ready[other] + lasts >= best[chosen]:
                    continue
                lag = latency[one * pairs, two * pairs]
                work = combine[other * units] * size[segment] if back else lasts * 0
                at = _gap(
                    other, chosen, ready[other] + work, lag, lasts, work, busy, busy_from,
                    busy_until,
                )  # fmt: skip
                value = at + lag + lasts + dear * lasts
                if value < best[chosen]:
                    best[chosen], giver[chosen], start[chosen] = value, other, at
            fresh = chosen  # which has nothing yet: nothing else is looked at
            continue
        while not (gone[row] and trial[row, 2] == segment and (trial[row, 3] == 0) == back):
            row += 1
        gone[row] = False
        trial[row, 0], trial[row, 1] = one, two
        begin[row] = -(at + lag + lasts) if back else at
        _enter_row(
            back, one, two, begin[row], lag, lasts, work, busy, busy_from, busy_until
        )
        has[chosen] = 2
        ready[chosen] = at + lag + lasts
        lacking -= 1
        fresh = chosen
    return True


@part
def _regrow(  # type: ignore[no-untyped-def]
    trial, begin, gone, segment, back, since, until, latency, transfer, combine, size, holds, has,
    ready, favour, dear, busy, busy_from, busy_until, best, giver, start,
):  # fmt: skip
    """Grow the rows of a half of a segment that are gone; return whether there is a way.

    What is complete by the parts of the segment is copied from then on; parts are to be complete
    by their first copy, or ``until``.
    """
    machines = len(has)
    pairs = 1 if latency.shape[0] > 1 else 0
    units = 1 if combine.shape[0] > 1 else 0
    copied = 0 if back else 1
    busy[:] = 0
    for machine in range(machines):
        has[machine] = 0
        if back and holds[machine, segment] == 0:
            has[machine], ready[machine] = 2, -until
        if not back and holds[machine, segment] != 1:
            has[machine], ready[machine] = 2, since
    # who sends a part, or gets a copy, is not where the segment is complete
    for row in range(len(trial)):
        sender, receiver = trial[row, 0], trial[row, 1]
        if trial[row, 2] == segment:
            if trial[row, 3] == copied:
                has[sender if back else receiver] = 1
            elif gone[row]:
                pass
            elif back:  # the first copy
                if has[sender] == 2 and -begin[row] > ready[sender]:
                    ready[sender] = -begin[row]
    for row in range(len(trial)):
        if gone[row]:
            continue
        sender, receiver = trial[row, 0], trial[row, 1]
        lasts = transfer[sender * pairs, receiver * pairs] * size[trial[row, 2]]
        lag = latency[sender * pairs, receiver * pairs]
        work = lasts * 0
        if trial[row, 3] == 0:
            work = combine[receiver * units] * size[trial[row, 2]]
        _enter_row(
            back, sender, receiver, begin[row], lag, lasts, work, busy, busy_from, busy_until
        )
        if trial[row, 2] == segment:
            if trial[row, 3] == copied:
                if back:
                    has[sender], ready[sender] = 2, -begin[row]
                else:
                    has[receiver], ready[receiver] = 2, begin[row] + lag + lasts
            elif not back and has[receiver] == 2:  # complete by parts
                ready[receiver] = max(ready[receiver], begin[row] + lag + lasts + work)
    return _grow(
        trial, begin, gone, segment, back, latency, transfer, combine, size, has, ready, favour,
        dear, busy, busy_from, busy_until, best, giver, start,
    )  # fmt: skip


@part
def _sort(trial, begin):  # type: ignore[no-untyped-def]
    """Sort rows by when they begin: an insertion sort, as few of them move."""
    for at in range(1, len(trial)):
        here = at
        first = begin[at]
        if begin[at - 1] <= first:
            continue
        one, two, three, four = trial[at, 0], trial[at, 1], trial[at, 2], trial[at, 3]
        while here > 0 and begin[here - 1] > first:
            begin[here] = begin[here - 1]
            for place in range(4):
                trial[here, place] = trial[here - 1, place]
            here -= 1
        begin[here] = first
        trial[here, 0], trial[here, 1], trial[here, 2], trial[here, 3] = one, two, three, four


@part
def _set_home(rows, trial, now, segment, home):  # type: ignore[no-untyped-def]
    """Let a segment be complete on a machine; return when it is complete now."""
    complete = now[0, 0] + 2**40
    old = -1
    for row in range(len(rows)):
        if rows[row, 2] == segment and rows[row, 3] == 1 and now[row, 0] < complete:
            complete, old = now[row, 0], rows[row, 0]
    if home >= 0 and home != old:
        for row in range(len(rows)):
            if rows[row, 2] == segment:
                end = rows[row, 3]
                if trial[row, end] == home:
                    trial[row, end] = old
    return complete


@loop(pays_from=20_000)
def regrow_sends(  # type: ignore[no-untyped-def]
    latency, transfer, combine, size, holds, exits, entries, shared, ahead, tail, rows,
    record, times, best, least, grain, tries, heat, aim, mix, seed, stop,
):  # fmt: skip
    """Grow sends of a plan anew, again and again; return when the best plan so far ends."""
    total = rows.shape[0]
    machines, segments = holds.shape
    ports = max(greatest(exits), greatest(entries)) + 1
    zero = latency[0, 0] * 0
    ready = np.zeros((machines, segments), latency.dtype)
    origin = np.zeros((machines, segments), np.int64)
    has = holds.copy()
    parts = np.zeros(segments, np.int64)
    for machine in range(machines):
        for segment in range(segments):
            parts[segment] += holds[machine, segment] == 0
    left = parts.copy()
    free = np.zeros((4, ports), latency.dtype)
    user = np.zeros((4, ports), np.int64)
    waits = np.zeros((3, total), np.int64)
    path = np.zeros(total, np.int64)
    awaited = np.zeros(total, np.int64)
    trial = rows.copy()
    trial_times = times.copy()
    now = times.copy()  # of the rows
    begin = np.zeros(total, latency.dtype)
    gone = np.zeros(total, np.bool_)
    busy = np.zeros((3, machines), np.int64)
    busy_from = np.zeros((3, machines, total), latency.dtype)
    busy_until = np.zeros((3, machines, total), latency.dtype)
    state = np.zeros(machines, np.int64)
    there = np.zeros(machines, latency.dtype)
    favour = np.zeros(machines)
    value = np.zeros(machines)
    giver = np.zeros(machines, np.int64)
    start = np.zeros(machines, latency.dtype)
    mean = 0.0
    for row in range(total):
        mean += times[row, 1] - times[row, 0]
    mean /= total
    target = min(best - (best - least) * aim, best - grain * 1.0)
    cost = limit = 0.0
    found = 0
    for turn in range(tries + 1):
        if stop[0] != 0 or best <= least:
            break
        if turn > 0:
            copy_rows(rows, trial)
            seed = next_seed(seed)
            limit = cost - heat * (best - target) * math.log(((seed >> 8) + 1) / 8388609)
            seed = next_seed(seed)
            row = (seed >> 9) % total
            if (seed >> 8) % 2 > 0:
                row = path[(seed >> 9) % found]
            seed = next_seed(seed)
            kind = (seed >> 8) % 64
            segment, copied = rows[row, 2], rows[row, 3]
            other = segment
            seed = next_seed(seed)
            if kind % 2 > 0:
                other = (seed >> 8) % segments
            both = kind < mix[0] and parts[segment] == machines and total > (machines-1)*segments
            complete = zero
            if both:
                other = segment
                copied = 1
                seed = next_seed(seed)
                home = (seed >> 8) % machines
                if (seed >> 8) % 4 == 0:
                    home = -1
                complete = _set_home(rows, trial, now, segment, home)
                seed = next_seed(seed)
                complete += (best / 4 * (uniform(seed) - 0.5))
                complete = max(complete, zero)
            edge = now[row, 0] if copied == 1 else now[row, 1]
            for at in range(total):
                begin[at] = now[at, 0]
                mine = rows[at, 2] == segment or rows[at, 2] == other
                if both:
                    gone[at] = mine
                else:
                    late = now[at, 0] >= edge if copied == 1 else now[at, 1] <= edge
                    gone[at] = mine and rows[at, 3] == copied and late
            seed = next_seed(seed)
            wild = mean * mix[1] / 16.0 * uniform(seed)
            seed = next_seed(seed)
            dear = uniform(seed) * mix[2] / 16.0
            for machine in range(machines):
                seed = next_seed(seed)
                favour[machine] = wild * uniform(seed)
            possible = True
            for half in range(2):
                if half == 1 and other == segment:
                    break
                possible = possible and _regrow(
                    trial, begin, gone, segment if half == 0 else other, copied == 0,
                    complete, best, latency, transfer, combine, size, holds, state, there, favour, dear, busy,
                    busy_from, busy_until, value, giver, start,
                )  # fmt: skip
            if both and possible:
                possible = _regrow(
                    trial, begin, gone, segment, True, zero, best, latency, transfer, combine,
                    size, holds, state, there, favour, dear, busy, busy_from, busy_until, value,
                    giver, start,
                )  # fmt: skip
            if not possible:
                continue
            _sort(trial, begin)
        ready[:] = zero
        origin[:] = NOTHING
        copy_rows(holds, has)
        np.positive(parts, left)
        free[:] = zero
        user[:] = NOTHING
        valid, end, latest = time_sends(
            trial, trial_times, turn > 0, target + limit, latency, transfer, combine, size, exits,
            entries, shared, ahead, has, left, ready, origin, free, user, waits,
        )  # fmt: skip
        if valid < total:
            if turn == 0:
                return zero - 1
            continue
        spent = 0.0
        for row in range(total):
            late = trial_times[row, 1] - target
            if trial[row, 3] == 0:
                late += tail[trial[row, 1]]
            spent += max(late, 0.0)
        if turn > 0 and spent > limit:
            continue
        cost = spent
        copy_rows(trial, rows)
        copy_rows(trial_times, now)
        found = trace_waits(latest, waits, path, awaited)
        if end < best:
            best = end
            copy_rows(trial, record)
            copy_rows(trial_times, times)
            target = min(best - (best - least) * aim, best - grain * 1.0)
            cost = 0.0
            for row in range(total):
                late = trial_times[row, 1] - target
                if trial[row, 3] == 0:
                    late += tail[trial[row, 1]]
                cost += max(late, 0.0)
    return best
