"""The rarest-first greedy: a broadcast, one copy after another.

Its phases: what a port sends, to whom, and the send. A reduction is planned as the broadcast that
it is in reversed time, in which a sender spends ``prepare`` per copy.
"""

from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from makespan.core.numeric.jit import loop, next_seed, part, uniform
from makespan.reduction.heuristics import greatest, links_open, start_of, strike_off, worked

RELEASE_FIRST = 1  # who has a segment first sends a new one whenever there is one
NEEDIEST = 2  # of equally early receivers the one with the fewest segments, else any
IN_TIME = 4  # what could not grow to all machines by ``goal`` goes before what is rare
NOT_TWICE = 8  # over shared links goes only what nobody has who needs none to get there
PATIENT = 16  # who waits for a shared link decides anew when it is free
FARTHEST = 32  # not what is rarest, but what has most machines to get to, on its way through others
NEEDY_OF = 16  # receivers that are free now, of which the neediest is taken
NONE = -1  # instead of a segment, a machine or a link


@part
def bring_near(segment, machine, shared, transfer, near):  # type: ignore[no-untyped-def]
    """Note who can get a segment from a machine over links that are not shared."""
    for other in range(len(transfer)):
        if shared[machine, other, 0] < 0 and transfer[machine, other] >= 0:
            near[segment, other] = True


@part
def count_held(holds, once, shared, transfer, near):  # type: ignore[no-untyped-def]
    """Return how much is held from the start; note who can get it over links of its own."""
    count = 0
    for machine in range(len(holds)):
        for segment in range(holds.shape[1]):
            count += holds[machine, segment]
            if holds[machine, segment] and shared is not None and once:
                bring_near(segment, machine, shared, transfer, near)
    return count


@part
def enter_holders(  # type: ignore[no-untyped-def]
    holds,
    lacks,
    release,
    first,
    offered,
    hold,
    holders,
    lacking,
    place,
    left,
    own,
    released,
    until,
    queued,
):
    """Enter who has and who lacks what; return how many copies there are to make.

    ``hold`` (machine, segment) says from when on it has it, -1 for not yet, ``holders`` (segment)
    how many have it; the list of those that lack it is that of
    :func:`~makespan.reduction.heuristics.strike_off`. ``own`` is what machines have from the start,
    one after another: of a port ``released`` is the place of what it releases next, of a machine
    ``until`` the end of what is its own. ``queued``: somebody sent it, or nobody lacks it.
    """
    machines = len(holds)
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
    for segment in range(len(left)):
        queued[segment] = left[segment] == 0
    return total


@part
def next_release(  # type: ignore[no-untyped-def]
    sender, port, once, transfer, shared, exits, own, released, until, queued, lacking, left, near
):
    """Return the first segment of the sender's own that nobody has sent and somebody can get."""
    while released[port] < until[sender]:
        new = own[released[port]]
        able = not queued[new]
        if able and transfer.shape[0] > 1:
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
            return new
        released[port] += 1
    return NONE


@part
def spare_copies(segment, missing, now, goal, growing, hold, out_port, first):  # type: ignore[no-untyped-def]
    """Return how many more than are missing the holders of a segment can make by ``goal``."""
    machines = len(hold)
    spare = -missing
    for machine in range(machines):
        since = hold[machine, segment]
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
    return spare


@part
def takes_now(  # type: ignore[no-untyped-def]
    segment, sender, port, now, once, latency, transfer, shared, ahead, exits, entries, in_port,
    link, lacking, left, near,
):  # fmt: skip
    """Return whether the port leads to who lacks a segment, and whether one can take it at once."""
    pairs = 1 if latency.shape[0] > 1 else 0
    able = False
    for step in range(left[segment]):
        machine = lacking[segment, step]
        if exits is not None and exits[sender, machine] != port:
            continue
        if transfer[sender * pairs, machine * pairs] < 0:
            continue
        if shared is not None:
            far = shared[sender, machine, 0] >= 0
            if once and far and near[segment, machine]:
                continue
        able = True
        lag = latency[sender * pairs, machine * pairs]
        entry = machine if entries is None else entries[sender, machine]
        taken = max(now, in_port[entry] - lag)
        if links_open(sender, machine, taken, shared, ahead, link) <= now:
            return True, True
    return able, False


@part
def choose_receiver(  # type: ignore[no-untyped-def]
    segment, sender, port, now, offset, style, latency, transfer, shared, ahead, exits, entries,
    in_port, link, lacking, left, near, owned,
):  # fmt: skip
    """Return who can take a segment first, of all who lack it, and from when on."""
    pairs = 1 if latency.shape[0] > 1 else 0
    receiver = NONE
    earliest = now
    fewest = 0
    seen = 0
    for step in range(left[segment]):
        other = lacking[segment, (offset + step) % left[segment]]
        if exits is not None and exits[sender, other] != port:
            continue
        if transfer[sender * pairs, other * pairs] < 0:
            continue
        far = False
        if shared is not None:
            far = (style & NOT_TWICE) != 0 and shared[sender, other, 0] >= 0
            if far and near[segment, other]:
                continue
        entry = other if entries is None else entries[sender, other]
        at = max(now, in_port[entry] - latency[sender * pairs, other * pairs])
        at = links_open(sender, other, at, shared, ahead, link)
        if not far:  # a shared link that is free is not left idle
            lasts = transfer[sender * pairs, other * pairs]
            at += (lasts + latency[sender * pairs, other * pairs]) * pairs
        better = receiver < 0 or at < earliest
        if not better and at == earliest and style & NEEDIEST:
            better = owned[other] < fewest
        if better:
            receiver, earliest, fewest = other, at, owned[other]
        if at <= now:
            seen += 1
            if seen >= NEEDY_OF or not (style & NEEDIEST):
                break
    return receiver, earliest


@part
def send_copy(  # type: ignore[no-untyped-def]
    sender, receiver, segment, port, latency, transfer, prepare, size, shared, ahead, entries, hold,
    unit, out_port, in_port, link,
):  # fmt: skip
    """Send a copy as early as can be; return when it starts and arrives."""
    pairs = 1 if latency.shape[0] > 1 else 0
    units = 1 if prepare.shape[0] > 1 else 0
    lag = latency[sender * pairs, receiver * pairs]
    lasts = transfer[sender * pairs, receiver * pairs] * size[segment]
    entry = receiver if entries is None else entries[sender, receiver]
    begin = worked(hold[sender, segment], unit[port], prepare[sender * units] * size[segment])
    start = start_of(begin, out_port[port], in_port[entry], lag)
    start = links_open(sender, receiver, start, shared, ahead, link)
    if shared is not None:
        for way in range(shared.shape[2]):
            on = shared[sender, receiver, way]
            if on >= 0:
                link[on] = start + ahead[sender, receiver, way] + lasts
    arrival = start + lag + lasts
    unit[port], out_port[port], in_port[entry] = begin, start + lasts, arrival
    hold[receiver, segment] = arrival
    return start, arrival


@part
def enter_copy(  # type: ignore[no-untyped-def]
    written, sender, receiver, segment, copies, queued, active, active_count, owned, holders,
    lacking, place, left,
):  # fmt: skip
    """Write a copy down and enter that its receiver holds it; return how many are active."""
    copies[written, 0], copies[written, 1], copies[written, 2] = sender, receiver, segment
    if not queued[segment]:
        queued[segment] = True
        active[active_count] = segment
        active_count += 1
    owned[receiver] += 1
    strike_off(segment, receiver, lacking, place, left)
    holders[segment] += 1
    return active_count


@part
def choose_segment(  # type: ignore[no-untyped-def]
    sender, port, now, seed, style, goal, growing, latency, transfer, prepare, size, shared, ahead,
    exits, entries, first, hold, unit, out_port, in_port, link, near, queued, holders, left, active,
    active_count, lacking, own, released, until,
):  # fmt: skip
    """Return what a port sends now: the next of its machine's own, or the rarest that it has.

    Then when it can send what is not ready yet, -1 for never; the seed; and how many segments are
    ``active``, sent by somebody and lacked by somebody.
    """
    machines = len(hold)
    units = 1 if prepare.shape[0] > 1 else 0
    once = (style & NOT_TWICE) != 0
    work = prepare[sender * units]
    best = 0.0
    soonest = latency[0, 0] * 0 - 1
    segment = next_release(
        sender, port, once, transfer, shared, exits, own, released, until, queued, lacking,
        left, near,
    )  # fmt: skip
    if segment >= 0:
        best = float(machines - left[segment]) if style & FARTHEST else 1.0
        ready = worked(hold[sender, segment], unit[port], work * size[segment])
        ready = max(ready, out_port[port])
        if ready > now:
            segment, soonest = NONE, ready
    position = active_count if segment >= 0 and style & RELEASE_FIRST else 0
    while position < active_count:
        other = active[position]
        if left[other] == 0:
            active_count -= 1
            active[position] = active[active_count]
            continue
        position += 1
        if hold[sender, other] < 0:
            continue
        ready = worked(hold[sender, other], unit[port], work * size[other])
        ready = max(ready, out_port[port])
        if ready > now:
            if soonest < 0 or ready < soonest:
                soonest = ready
            continue
        seed = next_seed(seed)
        score = machines - left[other] if style & FARTHEST else holders[other]
        score = score + uniform(seed)
        if style & IN_TIME:
            spare = spare_copies(other, left[other], now, goal, growing, hold, out_port, first)
            if spare < machines:
                score += spare - 4.0 * machines
        if segment >= 0 and score >= best:
            continue
        able, takes = takes_now(
            other, sender, port, now, once, latency, transfer, shared, ahead, exits,
            entries, in_port, link, lacking, left, near,
        )  # fmt: skip
        if not takes:
            score += 8.0 * machines
        if able and (segment < 0 or score < best):
            segment, best = other, score
    return segment, soonest, seed, active_count


class Ways(NamedTuple):
    """What copies cost, and the ports and links that they take, None for the common case."""

    latency: Any  # (sender, receiver), or 1 × 1 for equal pairs
    transfer: Any  # the same; below 0 where a link is missing
    prepare: Any  # (machine) what a sender spends on a copy, before it; or an entry for all
    size: Any  # (segment)
    release: Any  # (segment) from when on holders have it
    shared: Any  # (sender, receiver, place) links that a pair shares, then -1; None: none is shared
    ahead: Any  # the latency before each of these
    links: int  # how many there are
    exits: Any  # (sender, receiver) ports; None: a machine has one for sending, one for receiving
    entries: Any  # the same of receivers
    owner: Any  # (port) whose each sending port is
    first: Any  # (machine) the first port of each, and of one more


@loop(pays_from=400)
def broadcast_rarest_first(  # type: ignore[no-untyped-def]
    holds, lacks, latency, transfer, prepare, size, release, shared, ahead, links, exits, entries,
    owner, first, offered, seed, style, script, copies, times, allowed, goal, growing, stop,
):  # fmt: skip
    """Send all segments to all machines that lack them; return the time of the last arrival.

    The port that is free first sends: of the segments that its machine holds, one with the fewest
    holders that a machine can take at once, to a machine that can take it first. Ties at random.
    What lacks a segment must be linked to somebody that has it, by others that lack it. Costs,
    ports and links are those of :class:`Ways`.

    - ``holds``, ``lacks``: (machine, segment) Who has what, and who gets it.
    - ``offered``: (segment) The order in which each sends what it has from the start.
    - ``seed``, ``style``: of :func:`~makespan.core.numeric.jit.next_seed`; bits such as
      ``RELEASE_FIRST``.
    - ``script``: (row, 3) Sender, receiver and segment that are sent first, in order.
    - ``copies``, ``times``: (row, 3), (row, 2) Get all rows, their starts and arrivals.
    - ``goal``, ``growing``: for ``IN_TIME``: when all is to be there, and the times at which one
      holder has made 0, 1, … others, and they theirs.
    - ``allowed``, ``stop``: returns -1 when the end can't be below ``allowed``, or ``stop[0]`` is
      no longer 0.
    """
    machines, segments = holds.shape
    units = 1 if prepare.shape[0] > 1 else 0
    zero = latency[0, 0] * 0
    ports = owner.shape[0]
    # tables of few types: what makes one is compiled for each
    hold = np.zeros((machines, segments), latency.dtype)
    hold[:] = -1
    entered = machines if entries is None else greatest(entries) + 1
    clock = np.zeros((4, max(machines, ports, entered, links)), latency.dtype)
    unit, out_port, in_port, link = clock[0], clock[1], clock[2], clock[3]
    near = np.zeros((segments if shared is not None else 0, machines), np.bool_)
    once = (style & NOT_TWICE) != 0
    idle = np.zeros((1, ports), np.bool_)[0]
    queued = np.zeros((1, segments), np.bool_)[0]  # whether somebody sent it, or nobody lacks it
    of_segment = np.zeros((3, segments), copies.dtype)
    holders, left, active = of_segment[0], of_segment[1], of_segment[2]
    lacking = np.empty((segments, machines), np.int32)
    place = np.empty((segments, machines), np.int32)
    own = np.zeros((1, count_held(holds, once, shared, transfer, near)), copies.dtype)[0]
    of_machine = np.zeros((3, max(machines, ports)), copies.dtype)
    owned, released, until = of_machine[0], of_machine[1], of_machine[2]
    total = enter_holders(
        holds, lacks, release, first, offered, hold, holders, lacking, place, left, own, released,
        until, queued,
    )  # fmt: skip
    heap = [(zero, 0)]
    heap.pop()
    for port in range(ports):
        idle[port] = until[owner[port]] <= released[port]
        if not idle[port]:
            heap.append((zero, port))
    end = zero
    written = active_count = 0
    scripted = script.shape[0]
    while written < total:
        if stop[0] != 0:
            return zero - 1
        if written < scripted:
            sender, receiver, segment = script[written, 0], script[written, 1], script[written, 2]
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
            segment, soonest, seed, active_count = choose_segment(
                sender, port, now, seed, style, goal, growing, latency, transfer, prepare, size,
                shared, ahead, exits, entries, first, hold, unit, out_port, in_port, link, near,
                queued, holders, left, active, active_count, lacking, own, released, until,
            )  # fmt: skip
            if segment < 0:
                idle[port] = soonest < 0
                if soonest >= 0:
                    heappush(heap, (soonest, port))
                continue
            seed = next_seed(seed)
            receiver, earliest = choose_receiver(
                segment, sender, port, now, (seed >> 8) % left[segment], style, latency, transfer,
                shared, ahead, exits, entries, in_port, link, lacking, left, near, owned,
            )  # fmt: skip
            far = shared is not None and shared[sender, receiver, 0] >= 0
            if far and style & PATIENT and earliest > now:
                heappush(heap, (earliest, port))
                continue
        start, arrival = send_copy(
            sender, receiver, segment, port, latency, transfer, prepare, size, shared, ahead,
            entries, hold, unit, out_port, in_port, link,
        )  # fmt: skip
        if shared is not None and once:
            bring_near(segment, receiver, shared, transfer, near)
        end = max(end, arrival)
        if end >= allowed:
            return zero - 1
        times[written, 0], times[written, 1] = start, arrival
        active_count = enter_copy(
            written, sender, receiver, segment, copies, queued, active, active_count, owned,
            holders, lacking, place, left,
        )  # fmt: skip
        written += 1
        if written > scripted or scripted == 0:  # both look for what to send next
            following = prepare[sender * units] * size[segment]
            heappush(heap, (max(out_port[port], unit[port] + following), port))
            for other in range(first[receiver], first[receiver + 1]):
                if idle[other]:
                    idle[other] = False
                    heappush(heap, (arrival, other))
    return end
