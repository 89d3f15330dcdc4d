"""The loop of the rarest-first greedy: a broadcast, one copy after another.

A reduction is planned as the broadcast that it is in reversed time, in which a sender spends
``prepare`` per copy.
"""

from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from makespan.core.numeric.jit import loop
from makespan.core.numeric.random import next_seed
from makespan.reduction.heuristics import greatest
from makespan.reduction.heuristics.rarest_first_phases import (
    NOT_TWICE,
    PATIENT,
    bring_near,
    choose_receiver,
    choose_segment,
    count_held,
    enter_copy,
    enter_holders,
    send_copy,
)


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
    - ``seed``, ``style``: of :func:`~makespan.core.numeric.random.next_seed`; bits such as
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
