# mypy: disable-error-code="no-untyped-call,no-untyped-def"
"""The loop of the order-aware branch and bound: can a broadcast end by a given time?

Copies are added in the order of their starts, each as early as the copies before it allow. A copy
that could start before the last one added is not added any more: the same schedule arises where it
is added first. Machines that look alike are interchangeable, and so are segments; states met
before are recognised.
"""

import numpy as np

from makespan.core.numeric.jit import kernel, part

FOUND = 1
IMPOSSIBLE = 2
UNDECIDED = 0

PRIME = 2147483647
NOBODY = -1


@kernel
def growth_table(longest, length, period, prepare):
    """Return the most copies that descend from one holder within 0, 1, … ``longest`` units.

    The holder can start its first copy at 0; it arrives after ``length`` units, and its receiver
    starts copies of its own ``prepare`` later.
    """
    table = np.zeros(longest + 1, np.int64)
    for room in range(length, longest + 1):
        count = 1
        if room >= period:
            count += table[room - period]
        if room >= length + prepare:
            count += table[room - length - prepare]
        table[room] = min(count, 1_000_000)
    return table


@part
def hopeless(
    now, deadline, latency, transfer, prepare, period, growth, last_growth, hold, unit, out_port,
    in_port, starts,
):  # fmt: skip
    """Whether a lower bound shows that the rest can't end by ``deadline``.

    Each machine must still receive what it lacks; each segment must still spread from its holders
    at the fastest growth; the root must still release what it alone has; and all machines
    together must make all copies that are missing.
    """
    machines, segments = hold.shape
    length = latency + transfer
    for machine in range(1, machines):
        lacks = 0
        for segment in range(segments):
            if hold[machine, segment] < 0:
                lacks += 1
        if lacks and max(in_port[machine], now + latency) + lacks * transfer > deadline:
            return True
    total = 0
    unreleased = 0
    for segment in range(segments):
        holders = 0
        room = 0
        for machine in range(machines):
            if hold[machine, segment] >= 0:
                holders += 1
        missing = machines - holders
        if missing == 0:
            continue
        total += missing
        if holders == 1:
            unreleased += 1
        for machine in range(machines):
            if hold[machine, segment] >= 0:
                start = max(hold[machine, segment], unit[machine]) + prepare
                start = max(start, out_port[machine], now)
                if start <= deadline:
                    room += growth[deadline - start]
        if room < missing:
            return True
    if total == 0:
        return False
    # when each machine can start its next copy
    count = 0
    for machine in range(machines):
        soonest = -1
        informed = False
        for segment in range(segments):
            if hold[machine, segment] >= 0:
                informed = True
                missing = False
                for other in range(1, machines):
                    if hold[other, segment] < 0:
                        missing = True
                        break
                if missing and (soonest < 0 or hold[machine, segment] < soonest):
                    soonest = hold[machine, segment]
        if soonest >= 0:
            start = max(max(soonest, unit[machine]) + prepare, out_port[machine], now)
        elif informed:
            # it has nothing of use now, but may get some: an arrival not before now
            start = max(now + length + prepare, unit[machine] + prepare, out_port[machine])
        else:
            start = -1
        starts[machine] = start
        if start >= 0:
            count += 1
            if deadline - start >= length:
                total -= (deadline - start - length) // period + 1
    if unreleased:
        begin = max(unit[0] + prepare, out_port[0], now)
        if begin + (unreleased - 1) * period + last_growth > deadline:
            return True
    # machines without anything join at the fastest growth
    for machine in range(machines):
        if starts[machine] >= 0:
            continue
        first = -1
        for other in range(machines):
            if starts[other] >= 0 and (first < 0 or starts[other] < starts[first]):
                first = other
        arrival = starts[first] + length
        starts[first] += period
        starts[machine] = arrival + prepare
        if deadline - starts[machine] >= length:
            total -= (deadline - starts[machine] - length) // period + 1
    return total > 0


@part
def since(time, prepare, now):
    """Return when something held from ``time`` on can be sent: 0 for never, 1 for before now."""
    return 0 if time < 0 else max(time + prepare - now, -1) + 2


@part
def signature(now, latency, prepare, hold, unit, out_port, in_port, marks, columns, order, places):
    """Return a number for the state up to renaming machines and segments.

    Times count from ``now``; what lies before it counts as just before. Machines and segments are
    sorted by what they hold; where that leaves ties, equal states may get different numbers.
    """
    machines, segments = hold.shape
    for segment in range(segments):
        mixed = hold[0, segment] >= 0
        column = np.int64(mixed) * 0
        for machine in range(1, machines):
            value = since(hold[machine, segment], prepare, now)
            column += (value * value * 31 + value * 1009 + (value > 0) * 524287) % PRIME
        columns[segment] = column
    for machine in range(machines):
        mark = (max(out_port[machine] - now, -1) + 2) * 7919
        mark += (max(unit[machine] + prepare - now, -1) + 2) * 104729
        mark += (max(in_port[machine] - latency - now, -1) + 2) * 1299709
        for segment in range(segments):
            value = since(hold[machine, segment], prepare, now)
            mark += ((columns[segment] % 1000003 + 17) * (value * 2003 + 5)) % PRIME
        marks[machine] = mark
    for segment in range(segments):
        column = columns[segment] % 1000003 * 1000
        for machine in range(1, machines):
            value = since(hold[machine, segment], prepare, now)
            column += ((marks[machine] % 1000003 + 11) * (value * 4001 + 3)) % PRIME
        columns[segment] = column
        at = segment
        while at > 0 and columns[places[at - 1]] > column:
            places[at] = places[at - 1]
            at -= 1
        places[at] = segment
    order[0] = 0
    for machine in range(1, machines):
        at = machine
        while at > 1 and marks[order[at - 1]] > marks[machine]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = machine
    one, two = np.int64(1), np.int64(7)
    for place in range(machines):
        machine = order[place]
        for value in (
            max(out_port[machine] - now, -1) + 2,
            max(unit[machine] + prepare - now, -1) + 2,
            max(in_port[machine] - latency - now, -1) + 2,
        ):
            one = (one * 1000003 + value) % PRIME
            two = (two * 998244 + value * 3 + 1) % 2147483629
        for at in range(segments):
            value = since(hold[machine, places[at]], prepare, now)
            one = (one * 1000003 + value) % PRIME
            two = (two * 998244 + value * 3 + 1) % 2147483629
    return one * 2147483648 + two


@part
def alike(hold, unit, out_port, in_port, now, latency, prepare, one, two):
    """Whether two machines are in the same state, as far as it matters from ``now`` on."""
    early = now - 1
    if max(out_port[one], early) != max(out_port[two], early):
        return False
    if max(unit[one] + prepare, early) != max(unit[two] + prepare, early):
        return False
    if max(in_port[one] - latency, early) != max(in_port[two] - latency, early):
        return False
    for segment in range(hold.shape[1]):
        first, second = hold[one, segment], hold[two, segment]
        if first != second and (first < 0 or second < 0 or max(first, second) + prepare >= now):
            return False
    return True


@part
def has_twin(hold, unit, out_port, in_port, now, latency, prepare, machine, apart):
    """Whether one of the machines before it, but the root and ``apart``, is in the same state."""
    for other in range(1, machine):
        if other != apart and alike(
            hold, unit, out_port, in_port, now, latency, prepare, other, machine
        ):
            return True
    return False


@part
def has_double(hold, now, prepare, segment):
    """Whether a segment before it is held by the same machines, as far as it matters from now."""
    for other in range(segment):
        double = True
        for machine in range(len(hold)):
            one, two = hold[machine, other], hold[machine, segment]
            if one != two and (one < 0 or two < 0 or max(one, two) + prepare >= now):
                double = False
                break
        if double:
            return True
    return False


@part
def list_choices(
    now, deadline, latency, transfer, prepare, hold, unit, out_port, in_port, choices
):  # fmt: skip
    """List the copies that can be added to a state, but for those alike; return how many."""
    machines, segments = hold.shape
    length = latency + transfer
    count = 0
    for sender in range(machines):
        if has_twin(hold, unit, out_port, in_port, now, latency, prepare, sender, NOBODY):
            continue
        for segment in range(segments):
            held = hold[sender, segment]
            if held < 0 or has_double(hold, now, prepare, segment):
                continue
            ready = max(max(held, unit[sender]) + prepare, out_port[sender])
            if ready + length > deadline:
                continue
            holders = 0
            for machine in range(machines):
                holders += hold[machine, segment] >= 0
            for receiver in range(1, machines):
                if receiver == sender or hold[receiver, segment] >= 0:
                    continue
                start = max(ready, in_port[receiver] - latency)
                if start < now or start + length > deadline:
                    continue
                if has_twin(hold, unit, out_port, in_port, now, latency, prepare, receiver, sender):
                    continue
                place = count
                while place > 0 and (
                    choices[place - 1, 0] > start
                    or (choices[place - 1, 0] == start and choices[place - 1, 1] > holders)
                ):
                    np.positive(choices[place - 1], choices[place])
                    place -= 1
                choices[place, 0], choices[place, 1], choices[place, 2] = start, holders, sender
                choices[place, 3], choices[place, 4] = segment, receiver
                count += 1
    return count


@kernel
def decide(
    deadline, latency, transfer, prepare, growth, hold, unit, out_port, in_port, now, cursor,
    choices, keys, known, rooms, depth, steps,
):  # fmt: skip
    """Search for a broadcast that ends by ``deadline``, for at most ``steps`` states.

    - ``deadline``: by when all copies must have arrived.
    - ``latency``, ``transfer``, ``prepare``: the same for all pairs and machines.
    - ``growth``: that of :func:`growth_table`.
    - ``hold``, ``unit``, ``out_port``, ``in_port``, ``now``: (level, machine, segment), (level,
      machine) and (level) The state before each copy: since when machines hold segments, -1 for not
      yet; when units and ports are free; and the start of the copy before it, before which none is
      added.
    - ``cursor``: (level) How many choices were tried, -1 for a state that is new.
    - ``choices``: (level, choice, 5) Start, holders, sender, segment and receiver; in the last row
      how many.
    - ``keys``, ``known``, ``rooms``: (level), (slot), (slot) The signature of each state; states,
      and how much time was too little from there.
    - ``depth``, ``steps``: the level to go on from, and how many states may be entered.

    Returns a code and the level; call again with it to go on.
    """
    machines, segments = hold.shape[1], hold.shape[2]
    period = max(transfer, prepare)
    last_growth = latency + transfer
    while last_growth < growth.shape[0] and growth[last_growth] < machines - 1:
        last_growth += 1
    levels = segments * (machines - 1)
    mask = known.shape[0] - 1
    final = choices.shape[1] - 1
    marks = np.zeros(machines, np.int64)
    columns = np.zeros(segments, np.int64)
    order = np.zeros(machines, np.int64)
    places = np.zeros(segments, np.int64)
    starts = np.zeros(machines, np.int64)
    while steps > 0:
        if depth == levels:
            return FOUND, depth
        if cursor[depth] < 0:  # a state entered for the first time
            steps -= 1
            at = now[depth]
            dead = hopeless(
                at, deadline, latency, transfer, prepare, period, growth, last_growth,
                hold[depth], unit[depth], out_port[depth], in_port[depth], starts,
            )  # fmt: skip
            if not dead:
                key = signature(
                    at, latency, prepare, hold[depth], unit[depth], out_port[depth],
                    in_port[depth], marks, columns, order, places,
                )  # fmt: skip
                keys[depth] = key
                slot = key & mask
                dead = known[slot] == key and rooms[slot] >= deadline - at
            cursor[depth] = choices[depth, final, 0] = 0
            if dead:
                keys[depth] = -1
            else:
                choices[depth, final, 0] = list_choices(
                    at, deadline, latency, transfer, prepare, hold[depth], unit[depth],
                    out_port[depth], in_port[depth], choices[depth],
                )  # fmt: skip
        if cursor[depth] >= choices[depth, final, 0]:  # all were in vain: remember it, go back
            if keys[depth] >= 0:
                slot = keys[depth] & mask
                room = deadline - now[depth]
                if known[slot] != keys[depth] or rooms[slot] < room:
                    known[slot] = keys[depth]
                    rooms[slot] = room
            if depth == 0:
                return IMPOSSIBLE, depth
            depth -= 1
            continue
        choice = cursor[depth]
        cursor[depth] += 1
        start, sender = choices[depth, choice, 0], choices[depth, choice, 2]
        segment, receiver = choices[depth, choice, 3], choices[depth, choice, 4]
        held = max(hold[depth, sender, segment], unit[depth, sender])
        depth += 1
        for state in (unit, out_port, in_port):
            np.positive(state[depth - 1], state[depth])
        np.positive(hold[depth - 1], hold[depth])
        unit[depth, sender] = held + prepare
        out_port[depth, sender] = start + transfer
        in_port[depth, receiver] = hold[depth, receiver, segment] = start + latency + transfer
        now[depth] = start
        cursor[depth] = -1
    return UNDECIDED, depth
