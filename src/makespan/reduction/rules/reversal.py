"""A reduction as a broadcast in reversed time, and back."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.schedule import Schedule
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import Sends, Tables, tables_of
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
