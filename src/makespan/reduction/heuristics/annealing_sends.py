"""The loop of a local search: sends are put elsewhere, or grown anew where ports have room.

Parts are grown in reversed time, in which they are copies.

Sources: Kirkpatrick, Gelatt and Vecchi 1983, simulated annealing; Schrimpf, Schneider, Stamm-
Wilbrandt and Dueck 2000, "Record breaking optimization results using the ruin and recreate
principle"; what is critical is drawn more often, as in van Laarhoven, Aarts and Lenstra 1992.
"""

import math
from typing import Any

import numpy as np

from makespan.core.control import stoppable
from makespan.core.numeric.jit import loop, next_seed, part, uniform
from makespan.reduction.heuristics import copy_rows
from makespan.reduction.heuristics.critical_path import (
    NOTHING,
    WATCHED_FROM,
    Shortening,
    move_row,
    send_otherwise,
    time_sends,
    trace_waits,
)

HEAT, AIM = 0.5, 0.3
WILD = 3  # times what a send takes by which who is served first varies
MOVED, FORWARD, BEHIND, RESENT = 8, 20, 24, 48  # of 64 changes; the others grow sends anew
COLUMNS = ["latency", "transfer", "combine", "size", "holds", "exits", "entries", "shared", "ahead"]
GIVES, TAKES = range(2)  # of ports that are busy
UNCONCERNED, LACKS, HAS = range(3)


def anneal(search: Shortening, rows: Any, best: Any, least: float, grain: int, tries: int) -> Any:
    """Change ``rows`` so often; return when the best plan so far, that of ``search``, ends."""
    plan, control, work = search.plan, search.control, len(rows) * (1 + tries)
    loop = anneal_sends.bind(
        work, **dict(zip(COLUMNS, search.given, strict=True)), rows=rows, record=plan.rows,
        times=plan.times, best=plan.times.dtype.type(best), least=least, grain=grain, tries=tries,
        seed=int(control.rng.integers(2**31)),
    )  # fmt: skip
    return stoppable(control, loop, long=work / WATCHED_FROM)


@part
def _occupy(sort, machine, begin, lasts, busy, busy_from, busy_until):  # type: ignore[no-untyped-def]
    """Enter a span of time in which a port is busy, in the order of begins."""
    place = busy[sort, machine]
    busy[sort, machine] += 1
    while place > 0 and busy_from[sort, machine, place - 1] > begin:
        busy_from[sort, machine, place] = busy_from[sort, machine, place - 1]
        busy_until[sort, machine, place] = busy_until[sort, machine, place - 1]
        place -= 1
    busy_from[sort, machine, place], busy_until[sort, machine, place] = begin, begin + lasts


@part
def _gap(giver, taker, at, lag, lasts, busy, busy_from, busy_until):  # type: ignore[no-untyped-def]
    """Return from when on, after ``at``, both ports have room."""
    out, into = busy[GIVES, giver], busy[TAKES, taker]
    while out > 0 and busy_until[GIVES, giver, out - 1] > at:  # most are long before
        out -= 1
    while into > 0 and busy_until[TAKES, taker, into - 1] > at + lag:
        into -= 1
    before = at - 1
    while before < at:
        before = at
        while out < busy[GIVES, giver] and busy_from[GIVES, giver, out] < at + lasts:
            at = max(at, busy_until[GIVES, giver, out])
            out += 1
        while into < busy[TAKES, taker] and busy_from[TAKES, taker, into] < at + lag + lasts:
            at = max(at, busy_until[TAKES, taker, into] - lag)
            into += 1
    return at


@part
def _offer(  # type: ignore[no-untyped-def]
    other, taker, segment, back, latency, transfer, combine, size, there, dear, busy, busy_from,
    busy_until, value, giver, start,
):  # fmt: skip
    """Let a machine give another one a segment, if that has it sooner then."""
    one, two = (taker, other) if back else (other, taker)
    lasts = transfer[one, two] * size[segment]
    lag = latency[one, two]
    at = there[other] + (combine[other] * size[segment] if back else 0)
    if lasts < 0 or at + lag + (1 + dear) * lasts >= value[taker]:
        return
    at = _gap(other, taker, at, lag, lasts, busy, busy_from, busy_until)
    late = at + lag + lasts + dear * lasts
    if late < value[taker]:
        value[taker], giver[taker], start[taker] = late, other, at


@part
def _grow(  # type: ignore[no-untyped-def]
    trial, begin, gone, segment, back, latency, transfer, combine, size, state, there, favour, dear,
    busy, busy_from, busy_until, value, giver, start,
):  # fmt: skip
    """Copy a segment to all that lack it, whoever can get it first; return if there is a way."""
    machines = len(state)
    lacking = row = 0
    for taker in range(machines):
        giver[taker], value[taker] = -1, -np.inf
        lacking += state[taker] == LACKS
    while lacking > 0:
        chosen = -1
        while chosen < 0 or giver[chosen] < 0:
            if chosen >= 0:
                value[chosen] = np.inf
                for other in range(machines):
                    if state[other] == HAS:
                        _offer(
                            other, chosen, segment, back, latency, transfer, combine, size, there,
                            dear, busy, busy_from, busy_until, value, giver, start,
                        )  # fmt: skip
            soonest = np.inf
            for taker in range(machines):
                late = value[taker] + favour[taker]
                if state[taker] == LACKS and late < soonest:
                    chosen, soonest = taker, late
            if soonest == np.inf:
                return False
        other, at = giver[chosen], start[chosen]
        one, two = (chosen, other) if back else (other, chosen)
        lasts = transfer[one, two] * size[segment]
        lag = latency[one, two]
        _occupy(GIVES, other, at, lasts, busy, busy_from, busy_until)
        _occupy(TAKES, chosen, at + lag, lasts, busy, busy_from, busy_until)
        while not (gone[row] and trial[row, 2] == segment and (trial[row, 3] == 0) == back):
            row += 1
        gone[row] = False
        trial[row, 0], trial[row, 1] = one, two
        begin[row] = -(at + lag + lasts) if back else at
        state[chosen] = HAS
        there[chosen] = at + lag + lasts
        lacking -= 1
        for taker in range(machines):
            if giver[taker] == other:  # who gave has less room now: not sooner than that
                giver[taker] = -1
            if state[taker] == LACKS:
                _offer(
                    chosen, taker, segment, back, latency, transfer, combine, size, there, dear,
                    busy, busy_from, busy_until, value, giver, start,
                )  # fmt: skip
    return True


@part
def _regrow(  # type: ignore[no-untyped-def]
    trial, begin, gone, segment, back, since, until, latency, transfer, combine, size, holds, state,
    there, favour, dear, busy, busy_from, busy_until, value, giver, start,
):  # fmt: skip
    """Fill rows of a segment that are ``gone``, copies or, where ``back``, parts; return if so.

    Copies are made from when parts are there, at least ``since``; those are due by the first copy,
    or ``until``. Takers follow by when they can have it and ``favour``; ``dear`` counts sending.
    """
    copied = 0 if back else 1
    busy[:] = 0
    for machine in range(len(state)):
        state[machine] = UNCONCERNED
        if holds[machine, segment] == 0 or (holds[machine, segment] == 2 and not back):
            state[machine], there[machine] = HAS, -until if back else since
    for row in range(len(trial)):  # nobody has it from the first who sends a part, or gets a copy
        if trial[row, 2] == segment and trial[row, 3] == copied:
            state[trial[row, copied]] = LACKS
    for row in range(len(trial)):
        if gone[row]:
            continue
        sender, receiver = trial[row, 0], trial[row, 1]
        lasts = transfer[sender, receiver] * size[trial[row, 2]]
        lag = latency[sender, receiver]
        arrival = begin[row] + lag + lasts
        giving = receiver if back else sender
        at = -arrival if back else begin[row]
        _occupy(GIVES, giving, at, lasts, busy, busy_from, busy_until)
        _occupy(TAKES, sender + receiver - giving, at + lag, lasts, busy, busy_from, busy_until)
        if trial[row, 2] != segment:
            continue
        if trial[row, 3] == copied:
            state[trial[row, copied]] = HAS
            there[trial[row, copied]] = -begin[row] if back else arrival
        elif back and state[sender] == HAS:  # maybe the first copy
            there[sender] = max(there[sender], -begin[row])
        elif not back and state[receiver] == HAS:  # maybe the last part
            there[receiver] = max(there[receiver], arrival + combine[receiver] * size[segment])
    return _grow(
        trial, begin, gone, segment, back, latency, transfer, combine, size, state, there, favour,
        dear, busy, busy_from, busy_until, value, giver, start,
    )  # fmt: skip


@part
def _move_home(current, trial, now, segment, home):  # type: ignore[no-untyped-def]
    """Let a segment be complete on another machine; return when it is complete now."""
    since, old = now[0, 0], home
    for row in range(len(current)):
        if current[row, 2] == segment and current[row, 3] == 1:
            since, old = now[row, 0], current[row, 0]
            break
    for row in range(len(current)):
        if current[row, 2] == segment and trial[row, current[row, 3]] == home:
            trial[row, current[row, 3]] = old
    return since


@part
def _take_out(current, now, row, other, whole, begin, gone):  # type: ignore[no-untyped-def]
    """Take out copies no earlier than a row, or parts no later, of two segments, or all of one."""
    segment, copied = current[row, 2], current[row, 3]
    for at in range(len(current)):
        begin[at] = now[at, 0]
        late = now[at, 0] >= now[row, 0] if copied == 1 else now[at, 1] <= now[row, 1]
        here = current[at, 2] == segment or current[at, 2] == other
        gone[at] = here and (whole or (late and current[at, 3] == copied))


@part
def _sort_rows(trial, begin):  # type: ignore[no-untyped-def]
    """Sort rows by when they begin: an insertion sort, as few of them move."""
    for at in range(1, len(trial)):
        here = at
        while here > 0 and begin[here - 1] > begin[here]:
            begin[here - 1], begin[here] = begin[here], begin[here - 1]
            for place in range(4):
                one, other = trial[here - 1, place], trial[here, place]
                trial[here - 1, place], trial[here, place] = other, one
            here -= 1


@part
def _lateness(times, target):  # type: ignore[no-untyped-def]
    """Return by how much all sends arrive after a target."""
    spent = 0.0
    for row in range(len(times)):
        spent += max(times[row, 1] - target, 0.0)
    return spent


@loop(pays_from=100_000)
def anneal_sends(  # type: ignore[no-untyped-def]
    latency, transfer, combine, size, holds, exits, entries, shared, ahead, rows, record,
    times, best, least, grain, tries, seed, stop,
):  # fmt: skip
    """Change a plan again and again; return when the best plan so far ends.

    The cost of a plan is by how much sends arrive after a time between ``best`` and ``least``. A
    plan that costs more is taken with a chance that falls with how much more. A try: a send is put
    before what it waits for, or elsewhere, or sent otherwise, or copies or parts are grown anew:
    the last ones to be copied, or first to be sent, of one or two segments, or all of a segment.

    - ``latency`` to ``ahead``: those of
      :func:`~makespan.reduction.heuristics.critical_path.shorten`, with a port each way a machine.
    - ``rows``: (row, 4) Sender, receiver, segment, whether a copy; they go on changing.
    - ``record``, ``times``: (row, 4), (row, 2) Get the plan that ends first, if before ``best``.
    - ``best``, ``least``: when the best plan so far ends, and a lower bound.
    - ``grain``: 1 where times are whole, else 0.
    - ``seed``, ``stop``: of the random numbers; (1) no longer 0 to stop.

    Complexity: O(n m) a try, and O(n² m) where sends are grown.
    """
    total = rows.shape[0]
    machines, segments = holds.shape
    zero = latency[0, 0] * 0
    there_and_back = total > (machines - 1) * segments
    ready, there = np.zeros((machines, segments), latency.dtype), np.zeros(machines, latency.dtype)
    origin, has = np.zeros((machines, segments), np.int64), holds.copy()
    parts = np.zeros(segments, np.int64)
    for machine in range(machines):
        for segment in range(segments):
            parts[segment] += holds[machine, segment] == 0
    left = parts.copy()
    free, user = np.zeros((4, machines), latency.dtype), np.zeros((4, machines), np.int64)
    waits, path, awaited = np.zeros((3, total), np.int64), rows[:, 0].copy(), rows[:, 0].copy()
    trial, trial_times = rows.copy(), times.copy()
    now, begin = times.copy(), times[:, 0].copy()  # of the current plan, and of a trial
    gone, state = np.zeros(total, np.bool_), np.zeros(machines, np.int64)
    busy, giver = np.zeros((2, machines), np.int64), np.zeros(machines, np.int64)
    busy_from = np.zeros((2, machines, total), latency.dtype)
    busy_until, start = busy_from.copy(), there.copy()
    favour, value = np.zeros(machines), np.zeros(machines)
    cost = limit = 0.0
    target = min(best - (best - least) * AIM, best - grain * 1.0)
    found = 0
    for turn in range(tries + 1):
        if stop[0] != 0 or best <= least:
            break
        if turn > 0:
            copy_rows(rows, trial)
            seed = next_seed(seed)
            limit = cost - HEAT * (best - target) * math.log(((seed >> 8) + 1) / 8388609)
            seed = next_seed(seed)
            kind = (seed >> 8) % 64
            seed = next_seed(seed)
            step, critical = (seed >> 9) % found, (seed >> 8) % 2 > 0
            row = path[step] if critical else (seed >> 9) % total
            seed = next_seed(seed)
            some = seed >> 8
            if kind < BEHIND:
                to = min(max(row + some % (4 * machines + 1) - 2 * machines, 0), total - 1)
                if critical and kind >= MOVED and awaited[step] >= 0:
                    to = awaited[step]
                    if kind >= FORWARD:
                        row, to = to, row
                move_row(rows, trial, row, to)
            elif kind < RESENT:
                seed = send_otherwise(rows, trial, row, some, kind % 2 == 0, machines, seed)
            else:
                segment, since = rows[row, 2], zero
                whole = there_and_back and some % 8 == 0
                other = (some >> 3) % (2 * segments)  # none as often as one of all
                if whole or other >= segments:
                    other = segment
                if whole:
                    since = _move_home(rows, trial, now, segment, (some >> 3) % machines)
                _take_out(rows, now, row, other, whole, begin, gone)
                seed = next_seed(seed)
                dear = uniform(seed)
                seed = next_seed(seed)
                wild = WILD * (now[row, 1] - now[row, 0]) * uniform(seed)
                for machine in range(machines):
                    seed = next_seed(seed)
                    favour[machine] = wild * uniform(seed)
                grown = True
                for half in range(2 if whole or other != segment else 1):
                    grown = grown and _regrow(
                        trial, begin, gone, other if half else segment,
                        half == 1 if whole else rows[row, 3] == 0, since, best, latency, transfer,
                        combine, size, holds, state, there, favour, dear, busy, busy_from,
                        busy_until, value, giver, start,
                    )  # fmt: skip
                if not grown:
                    continue
                _sort_rows(trial, begin)
        ready[:] = free[:] = zero
        origin[:] = user[:] = NOTHING
        copy_rows(holds, has)
        np.positive(parts, left)
        valid, end, latest = time_sends(
            trial, trial_times, turn > 0, target + limit, latency, transfer, combine, size, exits,
            entries, shared, ahead, has, left, ready, origin, free, user, waits,
        )  # fmt: skip
        spent = _lateness(trial_times, target)
        if valid < total or (turn > 0 and spent > limit):
            continue
        cost = spent
        copy_rows(trial, rows)
        copy_rows(trial_times, now)
        found = trace_waits(latest, waits, path, awaited)
        if end < best:
            best = end
            copy_rows(trial, record)
            copy_rows(trial_times, times)
            target = min(best - (best - least) * AIM, best - grain * 1.0)
            cost = _lateness(trial_times, target)
    return best
