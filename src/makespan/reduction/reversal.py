"""A reduction as a broadcast in reversed time, and back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from makespan.core.schedule import Integers, Schedule
from makespan.reduction.problem import Reduction
from makespan.reduction.rules import tables_of
from makespan.reduction.sends import Sends
from makespan.reduction.timing import in_order


class Broadcast(NamedTuple):
    """The costs of a broadcast: (sender, receiver) tables, 1 × 1 where all entries are equal.

    ``prepare`` is what a sender spends per copy: the reduction time, in reversed time.
    """

    machines: int
    latency: Any
    transfer: Any
    prepare: Any
    size: Any


def broadcast_of(problem: Reduction) -> Broadcast:
    """Return the broadcast that a reduction is in reversed time, or a broadcast itself."""
    tables = tables_of(problem)
    if problem.times is None:
        tables = tables.over(len(problem.machines))
    latency, transfer, prepare = tables.latency, tables.transfer, tables.reduce
    if problem.collective == "broadcast":
        prepare = np.zeros_like(prepare)
    else:
        latency, transfer = latency.T, transfer.T
    return Broadcast(
        len(problem.machines),
        np.ascontiguousarray(latency),
        np.ascontiguousarray(transfer),
        np.ascontiguousarray(prepare),
        tables.size,
    )


def schedule_from_copies(problem: Reduction, copies: Integers, times: Any) -> Schedule:
    """Return the schedule of the copies of a broadcast, turned back where it was reversed.

    Parameters
    ----------
    copies
        Rows (sender, receiver, segment).
    times
        Rows (start, arrival) of the copies.
    """
    sends, arrivals = sends_from_copies(problem, copies, times)
    schedule = in_order(problem, sends, arrivals)
    assert schedule is not None
    return schedule


def sends_from_copies(problem: Reduction, copies: Integers, times: Any) -> tuple[Sends, Integers]:
    """Return the sends of the copies in the order of their starts, and the order of arrival.

    Where two sends start at one time, the one that takes none goes first, and arrives last.
    """
    rows, lasts = np.arange(len(copies)), _seconds(problem, copies)
    if problem.collective == "broadcast":
        order = np.lexsort((rows, lasts, times[:, 0]))
        giver, taker = copies[order, 0], copies[order, 1]
        arrivals = np.lexsort((-lasts[order], times[order, 1]))
    else:
        order = np.lexsort((-rows, lasts, -times[:, 1]))
        giver, taker = copies[order, 1], copies[order, 0]
        arrivals = np.lexsort((-lasts[order], -times[order, 0]))
    sends = Sends(
        sender=np.asarray(giver, dtype=np.int64),
        receiver=np.asarray(taker, dtype=np.int64),
        segment=np.asarray(copies[order, 2], dtype=np.int64),
        final=np.full(len(copies), problem.collective == "broadcast"),
    )
    return sends, np.asarray(arrivals)


def _seconds(problem: Reduction, copies: Integers) -> Any:
    """Return how long the copies occupy ports."""
    costs = broadcast_of(problem)
    table = np.broadcast_to(costs.transfer, (costs.machines, costs.machines))
    return table[copies[:, 0], copies[:, 1]] * costs.size[copies[:, 2]]


def copies_from_schedule(problem: Reduction, schedule: Schedule) -> Integers:
    """Return the copies of a schedule as a broadcast, in the order of their starts."""
    from makespan.reduction.sends import sends_of

    sends, rows = sends_of(problem, schedule)
    if problem.collective == "broadcast":
        return np.column_stack([sends.sender, sends.receiver, sends.segment])
    arrival = schedule.end[rows] + problem.latencies[sends.sender, sends.receiver]
    order = np.argsort(-arrival, kind="stable")
    return np.column_stack([sends.receiver, sends.sender, sends.segment])[order]
