"""Sends of a segment are grown anew where ports have room between all other sends of a plan.

Parts are grown in reversed time, in which they are copies that the giver's unit prepares.
"""

from makespan.core.numeric.jit import part

GIVES, TAKES, PREPARES = range(3)  # of what is busy
UNCONCERNED, LACKS, HAS = range(3)


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
def _enter(giver, taker, at, lag, lasts, work, busy, busy_from, busy_until):  # type: ignore[no-untyped-def]
    """Enter a copy at both ports, and at the unit that prepares it until ``at``."""
    _occupy(GIVES, giver, at, at + lasts, busy, busy_from, busy_until)
    _occupy(TAKES, taker, at + lag, at + lag + lasts, busy, busy_from, busy_until)
    if work > 0:
        _occupy(PREPARES, giver, at - work, at, busy, busy_from, busy_until)


@part
def _gap(giver, taker, at, lag, lasts, work, busy, busy_from, busy_until):  # type: ignore[no-untyped-def]
    """Return from when on, after ``at``, both ports have room, and the unit before."""
    out = into = unit = 0
    moved = True
    while moved:
        moved = False
        while out < busy[GIVES, giver] and busy_until[GIVES, giver, out] <= at:
            out += 1
        if out < busy[GIVES, giver] and busy_from[GIVES, giver, out] < at + lasts:
            at = busy_until[GIVES, giver, out]
            moved = True
        while into < busy[TAKES, taker] and busy_until[TAKES, taker, into] <= at + lag:
            into += 1
        if into < busy[TAKES, taker] and busy_from[TAKES, taker, into] < at + lag + lasts:
            at = busy_until[TAKES, taker, into] - lag
            moved = True
        if work > 0:
            while unit < busy[PREPARES, giver] and busy_until[PREPARES, giver, unit] <= at - work:
                unit += 1
            if unit < busy[PREPARES, giver] and busy_from[PREPARES, giver, unit] < at:
                at = busy_until[PREPARES, giver, unit] + work
                moved = True
    return at


@part
def _grow(  # type: ignore[no-untyped-def]
    trial, begin, gone, segment, back, latency, transfer, combine, size, state, there, favour, dear,
    busy, busy_from, busy_until, value, giver, start,
):  # fmt: skip
    """Copy a segment to all that lack it, whoever can get it first; return if there is a way."""
    machines = len(state)
    pairs = 1 if latency.shape[0] > 1 else 0
    units = 1 if combine.shape[0] > 1 else 0
    nothing = there[0] * 0
    lacking = row = 0
    for taker in range(machines):
        giver[taker] = -1
        lacking += state[taker] == LACKS
    fresh = 0  # who has it since just now
    while lacking > 0:
        chosen = -1
        for taker in range(machines):
            if state[taker] != LACKS:
                continue
            first, last = (0, machines) if giver[taker] < 0 else (fresh, fresh + 1)
            for other in range(first, last):
                one, two = (taker, other) if back else (other, taker)
                lasts = transfer[one * pairs, two * pairs] * size[segment]
                if state[other] != HAS or lasts < 0:
                    continue
                if giver[taker] >= 0 and there[other] + (1 + dear) * lasts >= value[taker]:
                    continue
                lag = latency[one * pairs, two * pairs]
                work = combine[other * units] * size[segment] if back else nothing
                at = there[other] + work
                at = _gap(other, taker, at, lag, lasts, work, busy, busy_from, busy_until)
                late = at + lag + lasts + dear * lasts
                if giver[taker] < 0 or late < value[taker]:
                    value[taker], giver[taker], start[taker] = late, other, at
            if giver[taker] >= 0 and (
                chosen < 0 or value[taker] + favour[taker] < value[chosen] + favour[chosen]
            ):
                chosen = taker
        if chosen < 0:
            return False
        other, at = giver[chosen], start[chosen]
        one, two = (chosen, other) if back else (other, chosen)
        lasts = transfer[one * pairs, two * pairs] * size[segment]
        lag = latency[one * pairs, two * pairs]
        work = combine[other * units] * size[segment] if back else nothing
        _enter(other, chosen, at, lag, lasts, work, busy, busy_from, busy_until)
        while not (gone[row] and trial[row, 2] == segment and (trial[row, 3] == 0) == back):
            row += 1
        gone[row] = False
        trial[row, 0], trial[row, 1] = one, two
        begin[row] = -(at + lag + lasts) if back else at
        state[chosen] = HAS
        there[chosen] = at + lag + lasts
        lacking -= 1
        fresh = chosen
        for taker in range(machines):  # who gave has less room now
            if giver[taker] == other:
                giver[taker] = -1
    return True


@part
def regrow(  # type: ignore[no-untyped-def]
    trial, begin, gone, segment, back, since, until, latency, transfer, combine, size, holds, state,
    there, favour, dear, busy, busy_from, busy_until, value, giver, start,
):  # fmt: skip
    """Fill rows of a segment that are ``gone``, copies or, where ``back``, parts; return if so.

    Copies are made from when all parts are there, at least ``since``; parts are to be there by the
    first copy, or ``until``. ``begin`` gets starts. Takers are served by when they can have it and
    their ``favour``; ``dear`` is what a second of sending counts as delay.
    """
    pairs = 1 if latency.shape[0] > 1 else 0
    units = 1 if combine.shape[0] > 1 else 0
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
        lasts = transfer[sender * pairs, receiver * pairs] * size[trial[row, 2]]
        lag = latency[sender * pairs, receiver * pairs]
        arrival = begin[row] + lag + lasts
        work = lasts * 0
        if trial[row, 3] == 0:
            work = combine[receiver * units] * size[trial[row, 2]]
        if back:
            _enter(receiver, sender, -arrival, lag, lasts, work, busy, busy_from, busy_until)
        else:
            _enter(sender, receiver, begin[row], lag, lasts, lasts * 0, busy, busy_from, busy_until)
        if trial[row, 2] != segment:
            continue
        if trial[row, 3] == copied:
            state[trial[row, copied]] = HAS
            there[trial[row, copied]] = -begin[row] if back else arrival
        elif back and state[sender] == HAS:  # maybe the first copy
            there[sender] = max(there[sender], -begin[row])
        elif not back and state[receiver] == HAS:  # maybe the last part
            there[receiver] = max(there[receiver], arrival + work)
    return _grow(
        trial, begin, gone, segment, back, latency, transfer, combine, size, state, there, favour,
        dear, busy, busy_from, busy_until, value, giver, start,
    )  # fmt: skip
