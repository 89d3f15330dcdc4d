"""A reduction as a broadcast in reversed time, and back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.schedule import Schedule
from makespan.reduction.problem import Reduction
from makespan.reduction.rules.order import tables_of
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


def schedule_from_copies(problem: Reduction, copies: Integers) -> Schedule:
    """Return the schedule of the copies of a broadcast, turned back where it was reversed.

    ``copies`` has rows (sender, receiver, segment). Every machine sends and takes in the order of
    the rows, and sends only what it has taken by then: whatever times are zero or equal, such an
    order can be kept to, also backwards.
    """
    forward = problem.collective == "broadcast"
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
