"""The phases of the earliest-due-date greedy: who looks, who sends what to whom, and the send."""

from heapq import heappop, heappush

from makespan.core.numeric.jit import next_seed, part
from makespan.reduction.heuristics import open_for, start_of, worked

SPARE_PARTS = 1  # copies are sent by those that have the fewest parts left to send
BY_TAKEN = 2  # parts go to those that took the fewest, else to those that have the fewest left
BEHIND = 4  # copies go to those that are sending first
GATHERED = 8  # parts go first to those that cannot send theirs on yet, anyway
MANNERS = 16
NOTHING = -1  # instead of a machine or a segment


@part
def wake_all(heap, seed, wake, port, out_port):  # type: ignore[no-untyped-def]
    """Let all machines look as soon as their ports are free, in any order; return the seed."""
    machines = len(port)
    for machine in range(machines):
        seed = next_seed(seed)
        wake[machine] = out_port[port[machine]]
        heappush(heap, (wake[machine], (seed >> 16) * machines + machine))
    return seed


@part
def wake_up(  # type: ignore[no-untyped-def]
    heap, now, seed, latency, wake, port, out_port, in_port, looking, takers
):
    """Let all look that are to look now; return how many look, and how many may take something.

    A machine whose port others made busy since then looks when that is free. With equal latencies,
    a port for receiving that is still busy then takes nothing from anybody.
    """
    machines = len(port)
    looks = takes = 0
    while len(heap) > 0 and heap[0][0] == now:
        machine = heappop(heap)[1] % machines
        if wake[machine] == now and out_port[port[machine]] > now:
            wake[machine] = out_port[port[machine]]
            heappush(heap, (wake[machine], (seed >> 16) * machines + machine))
        elif wake[machine] == now:
            wake[machine] = now * 0 - 1
            looking[looks] = machine
            looks += 1
    for machine in range(machines):
        if latency.shape[0] > 1 or in_port[port[machine]] - latency[0, 0] <= now:
            takers[takes] = machine
            takes += 1
    return looks, takes


@part
def first_free(  # type: ignore[no-untyped-def]
    now, huge, backlog, machine, segment, copied, whole, given, latency, transfer, size, port,
    in_port, unit,
):  # fmt: skip
    """Return when the first of those who are still busy can take a segment from a machine."""
    pairs = 1 if latency.shape[0] > 1 else 0
    free = huge
    for taker in range(len(port)):
        if whole[taker, segment] or (not copied and given[taker, segment]):
            continue
        lasts = transfer[machine * pairs, taker * pairs] * size[segment]
        if lasts < 0:
            continue
        at = in_port[port[taker]]
        if not copied:
            at = open_for(at, unit[port[taker]], lasts, backlog)
        at -= latency[machine * pairs, taker * pairs]
        if at > now:
            free = min(free, at)
    return free


@part
def go_to_sleep(  # type: ignore[no-untyped-def]
    heap, now, moment, huge, seed, backlog, looking, looks, wake, latency, transfer, prepare, size,
    whole, given, ready, port, in_port, unit, holders, freed, freed_at,
):  # fmt: skip
    """Let all who look, and can send nothing, look again when that may have changed.

    That is when one has something ready, or when somebody who can take it is free. For equal pairs
    ``freed`` keeps the latter for each segment, found at the moment ``freed_at``. Returns the seed.
    """
    machines = len(port)
    pairs = 1 if latency.shape[0] > 1 else 0
    units = 1 if prepare.shape[0] > 1 else 0
    for place in range(looks):
        machine = looking[place]
        soonest = huge
        for other in range(len(size)):
            copied = whole[machine, other]
            gone = holders[other] == machines if copied else given[machine, other]
            if gone:
                continue
            at = ready[machine, other]
            if copied:
                work = prepare[machine * units] * size[other]
                at = worked(at, unit[port[machine]], work) if work > 0 else at
            if at <= now:
                if pairs > 0 or freed_at[other] != moment:
                    freed_at[other] = moment
                    freed[other] = first_free(
                        now, huge, backlog, machine, other, copied, whole, given, latency,
                        transfer, size, port, in_port, unit,
                    )  # fmt: skip
                at = freed[other]
            soonest = min(soonest, at)
        wake[machine] = soonest
        if soonest < huge:
            seed = next_seed(seed)
            heappush(heap, (soonest, (seed >> 16) * machines + machine))
    return seed


@part
def choose_sender(  # type: ignore[no-untyped-def]
    segment, now, moment, copied, manner, looking, looks, tried, latency, prepare, size, whole,
    given, ready, port, in_port, unit, copied_by, left,
):  # fmt: skip
    """Return who of those that look sends a segment, -1 for nobody.

    A copy is sent by who sent the fewest, a part by who has most left; those who can take nothing
    now send first.
    """
    units = 1 if prepare.shape[0] > 1 else 0
    held = len(port) * len(size)
    sender = -1
    fewest = 0
    for place in range(looks):
        machine = looking[place]
        if tried[machine, segment] == moment or ready[machine, segment] > now:
            continue
        if copied:
            if not whole[machine, segment]:
                continue
            work = prepare[machine * units] * size[segment]
            if work > 0 and worked(ready[machine, segment], unit[port[machine]], work) > now:
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
    return sender


@part
def choose_receiver(  # type: ignore[no-untyped-def]
    sender, segment, now, copied, manner, offset, backlog, apart, huge, takers, takes, latency,
    transfer, combine, size, whole, given, ready, port, out_port, in_port, unit, owned, taken, left,
):  # fmt: skip
    """Return who takes a segment from a sender, -1 for nobody, and how many takers are left.

    Who has it first takes it; of several, by ``manner``. ``takers`` loses those who can take
    nothing now. The last value says whether somebody could, from another sender at least.
    """
    machines = len(port)
    pairs = 1 if latency.shape[0] > 1 else 0
    units = 1 if combine.shape[0] > 1 else 0
    receiver = -1
    first = huge
    fewest = 0
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
            at = worked(at, unit[port[machine]], combine[machine * units] * size[segment])
            at = max(at, ready[machine, segment])
            score = taken[port[machine]] if manner & BY_TAKEN else left[port[machine]]
            if out_port[port[machine]] <= now and ready[machine, segment] <= now:
                score += 2 * len(size) * machines
            if manner & GATHERED and ready[machine, segment] <= now:
                at += apart
        if receiver < 0 or at < first or (at == first and score < fewest):
            receiver, first, fewest = machine, at, score
    return receiver, takes, some


@part
def choose_ends(  # type: ignore[no-untyped-def]
    segment, now, moment, copied, manner, seed, backlog, apart, huge, looking, looks, takers, takes,
    opened, tried, latency, transfer, combine, prepare, size, whole, given, ready, port, out_port,
    in_port, unit, owned, taken, copied_by, left,
):  # fmt: skip
    """Return who sends a segment to whom, how many takers are left, and the seed.

    The receiver is -1 where nobody can; the segment is then no longer ``opened``, or not with this
    sender.
    """
    sender = choose_sender(
        segment, now, moment, copied, manner, looking, looks, tried, latency, prepare, size, whole,
        given, ready, port, in_port, unit, copied_by, left,
    )  # fmt: skip
    receiver = NOTHING
    if sender < 0:
        opened[segment] = False
        return sender, receiver, takes, seed
    seed = next_seed(seed)
    receiver, takes, some = choose_receiver(
        sender, segment, now, copied, manner, (seed >> 8) % max(1, takes), backlog, apart, huge,
        takers, takes, latency, transfer, combine, size, whole, given, ready, port, out_port,
        in_port, unit, owned, taken, left,
    )  # fmt: skip
    if receiver < 0:
        tried[sender, segment] = moment
        opened[segment] = latency.shape[0] > 1 or some
    return sender, receiver, takes, seed


@part
def send_one(  # type: ignore[no-untyped-def]
    done, sender, receiver, segment, rows, times, latency, transfer, combine, prepare, size, whole,
    given, ready, port, out_port, in_port, unit, owned, taken, copied_by, left, parts, holders,
):  # fmt: skip
    """Send a segment as early as can be; return when the receiver has it, combined if a part.

    The row and its times are written down, and all who count what was sent do so.
    """
    pairs = 1 if latency.shape[0] > 1 else 0
    units = 1 if combine.shape[0] > 1 else 0
    copied = whole[sender, segment]
    out, into = port[sender], port[receiver]
    lag = latency[sender * pairs, receiver * pairs]
    lasts = transfer[sender * pairs, receiver * pairs] * size[segment]
    start = ready[sender, segment]
    work = prepare[sender * units] * size[segment]
    if copied and work > 0:
        start = worked(start, unit[out], work)
        unit[out] = start
    start = start_of(start, out_port[out], in_port[into], lag)
    arrival = start + lag + lasts
    rows[done, 0], rows[done, 1], rows[done, 2] = sender, receiver, segment
    rows[done, 3] = 1 if copied else 0
    times[done, 0], times[done, 1] = start, arrival
    out_port[out], in_port[into] = start + lasts, arrival
    if copied:
        holders[segment] += 1
        owned[into] += 1
        copied_by[out] += 1
        whole[receiver, segment] = True
    else:
        work = combine[receiver * units] * size[segment]
        if work > 0:
            arrival = worked(arrival, unit[into], work)
            unit[into] = arrival
        given[sender, segment] = True
        left[out] -= 1
        taken[into] += 1
        parts[segment] -= 1
        if parts[segment] == 1:  # that was the last but the receiver's own
            whole[receiver, segment] = True
            holders[segment] = 1
            left[into] -= 1
            owned[into] += 1
    ready[receiver, segment] = max(arrival, ready[receiver, segment])
    return ready[receiver, segment]


@part
def look_later(  # type: ignore[no-untyped-def]
    heap, sender, receiver, arrival, seed, looking, looks, wake, port, out_port
):
    """Let all at the sender's port, and the receiver, look when they can send again.

    Returns how many still look now.
    """
    machines = len(port)
    until = out_port[port[sender]]
    place = 0
    while place < looks:
        machine = looking[place]
        if port[machine] != port[sender]:
            place += 1
        else:
            looks -= 1
            looking[place] = looking[looks]
            wake[machine] = until
            heappush(heap, (until, (seed >> 16) * machines + machine))
    soonest = max(arrival, out_port[port[receiver]])
    if soonest < wake[receiver]:
        wake[receiver] = soonest
        heappush(heap, (soonest, (seed >> 16) * machines + receiver))
    return looks
