"""The loop of the earliest-due-date greedy: an all-reduce, one send after another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from makespan.core.numeric.jit import loop
from makespan.core.numeric.random import next_seed, uniform
from makespan.reduction.heuristics import open_for
from makespan.reduction.heuristics.allreduce_edd_phases import (
    NOTHING,
    UNSEEN,
    choose_receiver,
    choose_sender,
    due_date,
    first_along,
    go_to_sleep,
    look_later,
    send_one,
    wake_all,
    wake_up,
)


class Costs(NamedTuple):
    """What sends cost in one direction: columns of :func:`combine_and_copy`.

    Parameters
    ----------
    latency, transfer
        (sender, receiver) Negative transfers where there is no link; or 1 × 1 for equal pairs.
    combine, prepare
        (machine) What a receiver spends on a part, and a sender on a copy; or an entry for all.
    size
        (segment) Their sizes.
    ports
        Machine i has port and unit i mod ``ports``: with fewer ports than machines, a plan stands
        for all its rotations.
    huge
        Later than all times.
    """

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
    """When one holder has made 0, 1, … others, going backwards, and forwards.

    Where so many still hold a part, or hold it all, the next send is due that long before the last.
    """

    there: Any
    back: Any


class Aim(NamedTuple):
    """When sends are due, and who makes them: columns of :func:`combine_and_copy`.

    Parameters
    ----------
    complete
        (segment) When it is to be complete.
    end
        When all must hold all.
    spread
        By how much due dates are moved at random, at most.
    backlog
        For how long the unit may still be busy when a part comes.
    apart
        With ``GATHERED``, how much later those count who could send their part on.
    open_parts
        Whether all parts may go anywhere.
    manner
        Bits of :mod:`~makespan.reduction.heuristics.allreduce_edd_phases`: who sends and who takes.
    """

    complete: Any
    end: float
    spread: float
    backlog: Any
    apart: Any
    open_parts: bool
    manner: int


@loop(pays_from=2_000)
def combine_and_copy(  # type: ignore[no-untyped-def]
    latency, transfer, combine, prepare, size, parents, children, dues, there, back, script, rows,
    times, complete, end, spread, backlog, apart, open_parts, manner, seed, allowed, huge, ports,
    stop,
):  # fmt: skip
    """Combine each segment somewhere and copy it to all; return when the last send is done.

    At every moment, of all sends that machines with free ports can make at once, the one that is
    due first is made, then the next. The columns are those of :class:`Costs`, of
    :class:`~makespan.reduction.heuristics.symmetry.Trees`, of :class:`Growth` and of :class:`Aim`.

    Parameters
    ----------
    script
        (row, 3) Sender, receiver and segment that are sent first, in order.
    rows, times
        (send, 4), (send, 2) Get sender, receiver, segment, whether a copy; start and arrival.
    seed
        Of :func:`~makespan.core.numeric.random.next_seed`.
    allowed, stop
        Returns -1 where the end can't be below ``allowed``, where no machine can go on, or soon
        after ``stop[0]`` is no longer 0.
    """
    machines, segments = parents.shape
    pairs = 1 if latency.shape[0] > 1 else 0
    zero = latency[0, 0] * 0
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
    looking, takers = count[5], count[6]  # who looks now, and who can take something, equal pairs
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
            if done == scripted:
                scripted = -1
                seed = wake_all(heap, seed, wake, port, out_port)
            if looks == 0:  # the next moment at which somebody looks
                if len(heap) == 0:
                    return zero - 1
                now = heap[0][0]
                moment += 1
                looks, takes = wake_up(
                    heap, now, seed, latency, wake, port, out_port, in_port, along, looking, takers
                )
                for other in range(segments):
                    opened[other] = open_parts if holders[other] == 0 else holders[other] < machines
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
            receiver = parents[sender, segment]
            if sender >= 0:
                lasts = transfer[sender * pairs, receiver * pairs] * size[segment]
                at = open_for(in_port[port[receiver]], unit[port[receiver]], lasts, backlog)
                if at - latency[sender * pairs, receiver * pairs] > now:
                    along[sender] = UNSEEN  # others have sent there since
                    continue
            else:
                sender = choose_sender(
                    segment, now, moment, holders[segment] > 0, manner, looking, looks, tried,
                    latency, prepare, size, whole, given, ready, port, in_port, unit, copied_by,
                    left,
                )  # fmt: skip
                if sender < 0:
                    opened[segment] = False
                    continue
                seed = next_seed(seed)
                receiver, takes, some = choose_receiver(
                    sender, segment, now, holders[segment] > 0, manner,
                    (seed >> 8) % max(1, takes), backlog, apart, huge, takers, takes, latency,
                    transfer, combine, size, whole, given, ready, port, out_port, in_port, unit,
                    owned, taken, left,
                )  # fmt: skip
                if receiver < 0:
                    tried[sender, segment] = moment
                    opened[segment] = pairs > 0 or some
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
        opened[segment] |= parts[segment] == 1 and holders[segment] == 1
        if scripted < 0:
            if arrival <= now:  # it took no time
                opened[segment] = whole[receiver, segment] or open_parts
                along[receiver] = UNSEEN
            seed = next_seed(seed)
            looks = look_later(
                heap, sender, receiver, arrival, seed, looking, looks, wake, port, out_port
            )
    return last
