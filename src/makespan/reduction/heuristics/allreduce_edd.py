"""The loop of the earliest-due-date greedy: an all-reduce, one send after another."""

from typing import Any, NamedTuple

import numpy as np

from makespan.core.numeric.jit import loop, next_seed, part, uniform
from makespan.reduction.heuristics.allreduce_edd_phases import (
    NOTHING,
    choose_ends,
    go_to_sleep,
    look_later,
    send_one,
    wake_all,
    wake_up,
)


class Costs(NamedTuple):
    """What sends cost in one direction: columns of :func:`schedule_by_due_date`."""

    latency: Any  # (sender, receiver), or 1 × 1 for equal pairs
    transfer: Any  # the same; negative where there is no link
    combine: Any  # (machine) what a receiver spends on a part; or an entry for all
    prepare: Any  # (machine) what a sender spends on a copy; or an entry for all
    size: Any  # (segment)
    machines: int
    ports: int  # machine i has port and unit i mod ``ports``: if fewer, for all rotations of a plan
    huge: Any  # later than all times

    @property
    def apart(self) -> Any:
        """More than whatever else makes a receiver the better one."""
        longest = (self.transfer.max() + self.combine.max()) * self.size.max()
        return 4 * len(self.size) * (self.latency.max() + longest)


class Aim(NamedTuple):
    """When sends are due, and who makes them: columns of :func:`schedule_by_due_date`."""

    complete: Any  # (segment) when it is to be complete
    end: float  # when all must hold all
    spread: float  # by how much due dates are moved at random, at most
    backlog: Any  # for how long the unit may still be busy when a part comes
    apart: Any  # with ``GATHERED``, how much later those count who could send their part on
    manner: int  # bits of :mod:`~makespan.reduction.heuristics.allreduce_edd_phases`


@part
def due_date(segment, end, complete, there, back, parts, holders, moved):  # type: ignore[no-untyped-def]
    """Return when the next part, or else copy, of a segment is due."""
    if holders[segment] > 0:
        due = end - (back[len(back) - 1] - back[holders[segment] - 1])
    else:
        due = complete[segment] - there[parts[segment] - 1]
    return due + moved[segment]


@part
def enter_parts(seed, spread, huge, ports, port, left, parts, freed, moved):  # type: ignore[no-untyped-def]
    """Enter that every machine holds a part of all, and by how much dates move; return the seed."""
    for machine in range(len(port)):
        port[machine] = machine % ports
        left[machine] = len(port) // ports * len(parts)
    for segment in range(len(parts)):
        parts[segment], freed[segment] = len(port), huge
        seed = next_seed(seed)
        moved[segment] = spread * uniform(seed)
    return seed


@part
def open_segments(machines, end, complete, there, back, parts, holders, moved, opened, due):  # type: ignore[no-untyped-def]
    """Note when each segment is due, and whether some machine may look for it."""
    for segment in range(len(due)):
        opened[segment] = holders[segment] < machines
        due[segment] = due_date(segment, end, complete, there, back, parts, holders, moved)


@part
def first_due(opened, due):  # type: ignore[no-untyped-def]
    """Return which open segment is due first, -1 for none."""
    segment = NOTHING
    for other in range(len(due)):
        if opened[other] and (segment < 0 or due[other] < due[segment]):
            segment = other
    return segment


@loop(pays_from=2_000)
def schedule_by_due_date(  # type: ignore[no-untyped-def]
    latency, transfer, combine, prepare, size, there, back, script, rows, times, complete, end,
    spread, backlog, apart, manner, seed, allowed, huge, machines, ports, stop,
):  # fmt: skip
    """Combine each segment somewhere and copy it to all; return when the last send is done.

    At every moment, of all sends that machines with free ports can make at once, that which is due
    first is made. The columns are those of :class:`Costs` and :class:`Aim`.

    - ``there``, ``back``: (machine,) When one holder has made 0, 1, … others, going backwards, and
      forwards. Where so many hold a part, or all of it, the next send is due that long before the
      last.
    - ``script``: (row, 3) Sender, receiver and segment that are sent first, in order.
    - ``rows``, ``times``: (send, 4), (send, 2) Get sender, receiver, segment, whether a copy; start
      and arrival.
    - ``seed``, ``allowed``, ``stop``: of the random numbers. Returns -1 where the end can't be
      below ``allowed``, where no machine can go on, or soon after ``stop[0]`` is no longer 0.
    """
    segments = len(size)
    zero = latency[0, 0] * 0
    # tables of few types: what makes one is compiled for each
    whole = np.zeros((machines, segments), np.bool_)
    given = np.zeros((machines, segments), np.bool_)
    ready = np.zeros((machines, segments), latency.dtype)  # when a machine has its part, or all
    clock = np.zeros((4, machines), latency.dtype)  # wake: when a machine looks, huge for never
    out_port, in_port, unit, wake = clock[0], clock[1], clock[2], clock[3]
    freed = np.zeros((1, segments), latency.dtype)[0]  # when a taker has a free port
    tried = np.zeros((machines, segments), rows.dtype)  # the last moment when there was no taker
    count = np.zeros((7, machines), rows.dtype)
    # by port: left are the parts that its machines hold
    port, owned, taken, copied_by, left = count[0], count[1], count[2], count[3], count[4]
    looking, takers = count[5], count[6]  # who looks now, and who can take
    state = np.zeros((3, segments), rows.dtype)
    parts, holders, freed_at = state[0], state[1], state[2]
    opened = np.zeros((1, segments), np.bool_)[0]
    due, moved = np.zeros((2, segments), complete.dtype)
    seed = enter_parts(seed, spread, huge, ports, port, left, parts, freed, moved)
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
                    heap, now, seed, latency, wake, port, out_port, in_port, looking, takers
                )
                open_segments(
                    machines, end, complete, there, back, parts, holders, moved, opened, due
                )
                if looks == 0:
                    continue
            segment = first_due(opened, due)
            if segment < 0:
                seed = go_to_sleep(
                    heap, now, moment, huge, seed, backlog, looking, looks, wake, latency, transfer,
                    prepare, size, whole, given, ready, port, in_port, unit, holders, freed,
                    freed_at,
                )  # fmt: skip
                looks = 0
                continue
            sender, receiver, takes, seed = choose_ends(
                segment, now, moment, holders[segment] > 0, manner, seed, backlog, apart, huge,
                looking, looks, takers, takes, opened, tried, latency, transfer, combine, prepare,
                size, whole, given, ready, port, out_port, in_port, unit, owned, taken, copied_by,
                left,
            )  # fmt: skip
            if receiver < 0:
                continue
        arrival = send_one(
            done, sender, receiver, segment, rows, times, latency, transfer, combine, prepare, size,
            whole, given, ready, port, out_port, in_port, unit, owned, taken, copied_by, left,
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
                opened[segment] = True
            seed = next_seed(seed)
            looks = look_later(
                heap, sender, receiver, arrival, seed, looking, looks, wake, port, out_port
            )
    return last
