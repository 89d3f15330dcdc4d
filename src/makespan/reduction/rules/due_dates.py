"""The loop of the earliest-due-date greedy: an all-reduce, one send after another."""

from __future__ import annotations

from heapq import heappush
from typing import Any, NamedTuple

import numpy as np

from makespan.core.numeric.jit import loop, part
from makespan.core.numeric.random import next_seed, uniform
from makespan.reduction.rules.due_date_phases import (
    NOTHING,
    UNSEEN,
    choose_receiver,
    choose_sender,
    due_date,
    find_takers,
    first_along,
    go_to_sleep,
    send_one,
    stop_looking,
    wake_up,
)
from makespan.reduction.rules.sending import open_for


class Costs(NamedTuple):
    """What sends cost in one direction: columns of :func:`combine_and_copy`."""

    latency: Any
    transfer: Any
    combine: Any
    prepare: Any
    size: Any
    ports: int
    huge: Any

    @property
    def apart(self) -> Any:
        """More than whatever else makes a receiver the better one."""
        longest = (self.transfer.max() + self.combine.max()) * self.size.max()
        return 4 * len(self.size) * (self.latency.max() + longest)


class Growth(NamedTuple):
    """When one holder has made 0, 1, … others, going backwards, and forwards."""

    there: Any
    back: Any


@part
def _run(  # type: ignore[no-untyped-def]
    latency, transfer, combine, prepare, size, parents, children, dues, there, back, script, rows,
    times, complete, end, backlog, apart, open_parts, manner, seed, allowed, huge, stop, whole,
    given, ready, out_port, in_port, unit, wake, freed, got, tried, port, owned, taken, copied_by,
    left, looking, takers, along, parts, holders, freed_at, opened, due, moved,
):  # fmt: skip
    """Make all sends, one after another; the arguments are the columns of the loop below."""
    machines, segments = parents.shape
    zero = latency[0, 0] * 0
    pairs = 1 if latency.shape[0] > 1 else 0
    heap = [(zero, 0)]
    heap.pop()
    now = last = zero
    moment = done = looks = takes = 0
    scripted = script.shape[0]
    while done < 2 * segments * (machines - 1):
        if stop[0] != 0:
            return zero - 1
        if done < scripted:
            sender, receiver, segment = script[done, 0], script[done, 1], script[done, 2]
        else:
            if done == scripted:  # all look, in any order
                for machine in range(machines):
                    seed = next_seed(seed)
                    wake[machine] = out_port[port[machine]]
                    heappush(heap, (wake[machine], (seed >> 16) * machines + machine))
                scripted = -1
            if looks == 0:  # wake
                if len(heap) == 0:
                    return zero - 1
                now = heap[0][0]
                moment += 1
                looks = wake_up(heap, now, seed, wake, port, out_port, along, looking)
                takes = find_takers(now, latency, port, in_port, takers)
                for other in range(segments):
                    opened[other] = 0 < holders[other] < machines or (
                        open_parts and holders[other] == 0
                    )
                    due[other] = due_date(other, end, complete, there, back, parts, holders, moved)
                if looks == 0:
                    continue
            # choose what is due first, of parts along trees and of segments
            sender, segment = first_along(
                now, backlog, looking, 0 if open_parts else looks, along, parents, children, dues,
                given, got, ready, latency, transfer, size, port, in_port, unit,
            )  # fmt: skip
            best = dues[sender, segment] + 0.0 if sender >= 0 else 0.0
            for other in range(segments):
                if opened[other] and (segment < 0 or due[other] < best):
                    segment, sender, best = other, NOTHING, due[other]
            if segment < 0:
                seed = go_to_sleep(
                    heap, now, moment, huge, seed, backlog, looking, looks, wake, latency, transfer,
                    prepare, size, parents, children, whole, given, got, ready, port, in_port,
                    unit, holders, freed, freed_at,
                )  # fmt: skip
                looks = 0
                continue
            if sender >= 0:
                receiver = parents[sender, segment]
                lasts = transfer[sender * pairs, receiver * pairs] * size[segment]
                at = open_for(in_port[port[receiver]], unit[port[receiver]], lasts, backlog)
                if at - latency[sender * pairs, receiver * pairs] > now:
                    along[sender] = UNSEEN  # others have sent there since
                    continue
            else:
                copied = holders[segment] > 0
                sender = choose_sender(
                    segment, now, moment, copied, manner, looking, looks, tried, latency, prepare,
                    size, whole, given, ready, port, in_port, unit, copied_by, left,
                )  # fmt: skip
                if sender < 0:
                    opened[segment] = False
                    continue
                seed = next_seed(seed)
                offset = (seed >> 8) % max(1, takes)
                receiver, takes, some = choose_receiver(
                    sender, segment, now, copied, manner, offset, backlog, apart, huge, takers,
                    takes, latency, transfer, combine, size, whole, given, ready, port, out_port,
                    in_port, unit, owned, taken, left,
                )  # fmt: skip
                if receiver < 0:
                    tried[sender, segment] = moment
                    if pairs == 0 and not some:
                        opened[segment] = False
                    continue
        arrival = send_one(
            done, sender, receiver, segment, rows, times, latency, transfer, combine, prepare, size,
            whole, given, got, ready, port, out_port, in_port, unit, owned, taken, copied_by, left,
            parts, holders,
        )  # fmt: skip
        last = max(last, arrival)
        if last >= allowed:
            return zero - 1
        done += 1
        due[segment] = due_date(segment, end, complete, there, back, parts, holders, moved)
        if parts[segment] == 1 and holders[segment] == 1:
            opened[segment] = True
        if scripted < 0:
            if arrival <= now:  # it took no time
                opened[segment] = whole[receiver, segment] or open_parts
                along[receiver] = UNSEEN
            seed = next_seed(seed)
            busy, until = port[sender], out_port[port[sender]]
            looks = stop_looking(heap, busy, until, seed, looking, looks, wake, port)
            soonest = max(arrival, out_port[port[receiver]])
            if soonest < wake[receiver]:
                wake[receiver] = soonest
                heappush(heap, (soonest, (seed >> 16) * machines + receiver))
    return last


@loop(pays_from=2_000)
def combine_and_copy(  # type: ignore[no-untyped-def]
    latency, transfer, combine, prepare, size, parents, children, dues, there, back, script, rows,
    times, complete, end, spread, backlog, apart, open_parts, manner, seed, allowed, huge, ports,
    stop,
):  # fmt: skip
    """Combine each segment somewhere and copy it to all; return when the last send is done.

    At every moment, of all sends that machines with free ports can make at once, the one that is
    due first is made, then the next. Its phases: wake those who are to look now; choose the segment
    that is due first, its sender and its receiver; send. Who can send nothing sleeps until that may
    have changed. Machine i has port and unit i mod ``ports``: with fewer ports than machines, a
    plan stands for all its rotations. Returns -1 where the end can't be below ``allowed``, where no
    machine can go on, or when ``stop`` says so.

    Parameters
    ----------
    latency, transfer
        (sender, receiver) Negative transfers where there is no link; or 1 × 1 for equal pairs.
    combine, prepare
        (machine) What a receiver spends on a part, and a sender on a copy; or an entry for all.
    size
        (segment) Their sizes.
    parents, children, dues
        (machine, segment) Where its part goes, -1 for open; how many it waits for; when it is due.
    there, back
        (n) When one holder has made 0, 1, … others, going backwards, and forwards: where so many
        still hold a part, or hold it all, the next send is due that long before the last.
    script
        (row, 3) Sender, receiver and segment that are sent first, in order.
    rows, times
        (send, 4), (send, 2) Get sender, receiver, segment, whether a copy; start and arrival.
    complete, end
        (segment) When it is to be complete; when all must hold all.
    spread
        By how much due dates are moved at random, at most.
    backlog
        For how long the unit may still be busy when a part comes.
    apart
        With :data:`GATHERED`, how much later those count who could send their part on.
    open_parts
        Whether all parts may go anywhere.
    manner
        Bits such as :data:`BEHIND`: who sends and who takes, of all who can.
    seed, allowed, huge, ports, stop
        Of the random numbers; see above; later than all times; see above; (1) no longer 0 to stop.
    """
    machines, segments = parents.shape
    # tables of few types: what makes one is compiled for each
    whole = np.zeros((machines, segments), np.bool_)
    given = np.zeros((machines, segments), np.bool_)
    ready = np.zeros((machines, segments), latency.dtype)  # when a machine has its part, or all
    clock = np.zeros((4, machines), latency.dtype)
    out_port, in_port, unit = clock[0], clock[1], clock[2]
    wake = clock[3]  # when a machine looks for a send, huge for never
    freed = np.zeros((1, segments), latency.dtype)[0]  # when a taker has a free port
    got = np.zeros((machines, segments), rows.dtype)
    tried = np.zeros((machines, segments), rows.dtype)  # the last moment when there was no taker
    count = np.zeros((8, machines), rows.dtype)
    port, owned, taken, copied_by = count[0], count[1], count[2], count[3]
    left = count[4]  # parts that the machines at a port hold
    looking = count[5]  # those who look now
    takers = count[6]  # those who can take something now, of equal pairs
    along = count[7]  # the part along a tree that a machine can send first
    state = np.zeros((3, segments), rows.dtype)
    parts, holders, freed_at = state[0], state[1], state[2]
    opened = np.zeros((1, segments), np.bool_)[0]
    dates = np.zeros((2, segments), complete.dtype)
    due, moved = dates[0], dates[1]
    for machine in range(machines):
        port[machine], along[machine] = machine % ports, NOTHING
        left[machine] = machines // ports * segments
    for segment in range(segments):
        parts[segment], freed[segment] = machines, huge
        seed = next_seed(seed)
        moved[segment] = spread * uniform(seed)
    return _run(
        latency, transfer, combine, prepare, size, parents, children, dues, there, back, script,
        rows, times, complete, end, backlog, apart, open_parts, manner, seed, allowed, huge, stop,
        whole, given, ready, out_port, in_port, unit, wake, freed, got, tried, port, owned, taken,
        copied_by, left, looking, takers, along, parts, holders, freed_at, opened, due, moved,
    )  # fmt: skip
