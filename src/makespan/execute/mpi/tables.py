"""A plan as a table of point-to-point operations for every rank."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from makespan.core.errors import ExecutionError
from makespan.core.numeric.arrays import Integers
from makespan.core.schedule import Activity, Schedule
from makespan.reduction.problem import ROOT, Reduction
from makespan.reduction.sends import Sends, segment_count, sends_of

NO_MESSAGE = -1


class Receive(NamedTuple):
    """A message to expect: from which rank, which segment, and whether it is complete."""

    source: int
    segment: int
    final: bool


class Step(NamedTuple):
    """What a rank does next.

    A send has ``message`` -1; any other step takes message ``message`` of the rank's receives and
    combines it, unless it is complete. ``row`` is the row of the plan's schedule.
    """

    peer: int
    segment: int
    final: bool
    message: int
    row: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What one rank does: the receives that it posts first, then its steps in order.

    Receives from one rank stand in the order in which that rank sends: messages between two ranks
    do not overtake each other, so they need no tags.
    """

    receives: tuple[Receive, ...]
    steps: tuple[Step, ...]


def tables_of(problem: Reduction, schedule: Schedule) -> list[Table]:
    """Return the table of every rank; rank r is machine r + 1.

    Every table is a part of one order of all operations, by planned start, in which each stands
    behind all it waits for. So the first operation in that order that is not done yet can always
    be done, and no plan that the referee accepts can deadlock.

    Complexity: O(sends log sends).
    """
    schedule = schedule.renamed(problem.machines)
    problem = problem.with_segments(segment_count(problem, schedule))
    sends, rows = sends_of(problem, schedule)
    arrivals = _reduce_rows(schedule, rows)
    receives: list[list[Receive]] = [[] for _ in problem.machines]
    steps: list[list[Step]] = [[] for _ in problem.machines]
    message = {}
    sender, receiver = sends.sender.tolist(), sends.receiver.tolist()
    segment, final = sends.segment.tolist(), sends.final.tolist()
    for node in _order(sends, schedule.start[rows].tolist(), schedule.start[arrivals].tolist()):
        send = node % len(sends)
        one, other, part, last = sender[send], receiver[send], segment[send], final[send]
        if node < len(sends):
            message[send] = len(receives[other])
            receives[other].append(Receive(one, part, last))
            steps[one].append(Step(other, part, last, NO_MESSAGE, int(rows[send])))
        else:
            steps[other].append(Step(one, part, last, message[send], int(arrivals[send])))
    return [
        Table(receives=tuple(expected), steps=tuple(own))
        for expected, own in zip(receives, steps, strict=True)
    ]


def _reduce_rows(schedule: Schedule, sends: Integers) -> Integers:
    """Return the row of the reduction, or of the mark of arrival, of every send."""
    reductions = schedule.rows_of(Activity.REDUCE)
    machine, peer, item = schedule.machine, schedule.peer, schedule.item
    ours = np.lexsort((item[sends], machine[sends], peer[sends]))
    theirs = np.lexsort((item[reductions], peer[reductions], machine[reductions]))
    matched = np.empty(len(sends), dtype=np.int64)
    matched[ours] = reductions[theirs]
    return matched


def _order(sends: Sends, starts: list[float], combined: list[float]) -> list[int]:
    """Return all operations by planned start, each behind those that it waits for.

    Operation s is send s; operation s + len(sends) is what its receiver does with it.
    """
    count = len(sends)
    sender, receiver = sends.sender.tolist(), sends.receiver.tolist()
    segment, final = sends.segment.tolist(), sends.final.tolist()
    missing: dict[tuple[bool, int, int], int] = defaultdict(int)
    waiting: dict[tuple[bool, int, int], list[int]] = defaultdict(list)
    for send in range(count):
        missing[final[send], receiver[send], segment[send]] += 1
        complete = final[send] and sender[send] != ROOT
        waiting[complete, sender[send], segment[send]].append(send)
    ready = [
        (starts[send], send)
        for key, those in waiting.items()
        if not missing.get(key)
        for send in those
    ]
    heapify(ready)
    order = []
    while ready:
        _, node = heappop(ready)
        order.append(node)
        if node < count:
            heappush(ready, (combined[node], node + count))
            continue
        send = node - count
        key = (final[send], receiver[send], segment[send])
        missing[key] -= 1
        if not missing[key]:
            for other in waiting.get(key, ()):
                heappush(ready, (starts[other], other))
    if len(order) < 2 * count:
        raise ExecutionError("the plan can't be carried out: some sends wait for each other")
    return order
