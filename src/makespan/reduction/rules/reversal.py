"""A reduction as a broadcast in reversed time, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.schedule import Schedule
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import Sends, Tables, costs_of, shared_links, tables_of
from makespan.reduction.timing import in_order


def broadcast_of(problem: Reduction) -> Tables:
    """Return the costs of the copies that a reduction is in reversed time, or of copies.

    ``reduce`` is what a sender spends per copy, before it: the reduction time, in reversed time.
    """
    tables = tables_of(problem)
    if problem.times is None:
        tables = tables.over(len(problem.machines))
    transfer, latency, prepare = tables[:3]
    if not problem.statement.combining:
        prepare = np.zeros_like(prepare)
    else:
        transfer, latency = transfer.T, latency.T
    transfer, latency, prepare = map(np.ascontiguousarray, (transfer, latency, prepare))
    return Tables(transfer, latency, prepare, tables.size, tables.unit)


def links_of_copies(problem: Reduction, tables: Tables) -> tuple[Any, Any, int]:
    """Return the shared links of copies, the latency before each, and how many there are.

    ``tables`` are those of :func:`broadcast_of`. In reversed time, a transfer enters a link as
    long before it arrives as it has left it.
    """
    ways = problem.shared
    if ways is None:
        return None, None, 0
    shared, ahead = shared_links(problem, tables)
    if problem.statement.combining:
        shared, ahead = shared.transpose(1, 0, 2), ahead.transpose(1, 0, 2)
        ahead = np.where(shared >= 0, tables.latency[:, :, None] - ahead, 0)
    return np.ascontiguousarray(shared), np.ascontiguousarray(ahead), len(ways.names)


def ports_of_copies(problem: Reduction) -> tuple[Any, Any, Integers, Integers]:
    """Return the ports that copies leave and arrive by, of all pairs, or None twice for machines'.

    Then whose each sending port is, and the first of each machine and of one more.
    """
    machines, ports = len(problem.machines), problem.ports
    if ports is None:
        every = np.arange(machines + 1)
        return None, None, every[:-1], every
    if problem.statement.combining:
        ports = ports.reversed
    sending, receiving, owner = map(
        np.ascontiguousarray, (ports.sending, ports.receiving, ports.exits[:, 0])
    )
    first = np.searchsorted(owner, np.arange(machines + 1)).astype(np.int64)
    return sending, receiving, owner, first


def schedule_at(problem: Reduction, copies: Integers, start: Any) -> Schedule:
    """Return the schedule of copies, rows (sender, receiver, segment) in the order of ``start``.

    Ports and shared links take them in the order in which they come there by these starts, which
    are in the unit of :func:`broadcast_of`, and begin them as early as that lets them.
    """
    giver, taker, segment = (np.array(column, dtype=np.int64) for column in copies.T)
    forward = not problem.statement.combining
    sends = Sends(
        sender=giver if forward else taker,
        receiver=taker if forward else giver,
        segment=segment,
        final=np.full(len(copies), forward),
    )
    costs = costs_of(problem, sends)
    begin = start if forward else start.max(initial=0) - start - costs.latency - costs.transfer
    order = np.lexsort((costs.transfer, begin))
    arrivals = np.lexsort((costs.transfer, begin + costs.latency))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    entering = (begin[:, None] + costs.ahead)[order]
    schedule = in_order(problem, sends.take(order), place[arrivals], entering)
    return schedule if schedule is not None else schedule_from_copies(problem, copies)


def schedule_from_copies(problem: Reduction, copies: Integers) -> Schedule:
    """Return the schedule of the copies of a broadcast, turned back where it was reversed.

    ``copies`` has rows (sender, receiver, segment). Every machine sends and takes in the order of
    the rows, and sends only what it has taken by then: whatever times are zero or equal, such an
    order can be kept to, also backwards.
    """
    forward = not problem.statement.combining
    giver, taker, segment = (copies if forward else copies[::-1]).T
    sends = Sends(
        sender=np.array(giver if forward else taker, dtype=np.int64),
        receiver=np.array(taker if forward else giver, dtype=np.int64),
        segment=np.array(segment, dtype=np.int64),
        final=np.full(len(copies), forward),
    )
    schedule = in_order(problem, sends)
    assert schedule is not None
    return schedule
