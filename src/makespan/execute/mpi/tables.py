"""A plan as a table of point-to-point operations for every rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from makespan.core.schedule import Schedule
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import executable, reductions_of, segment_count, sends_of

NO_MESSAGE = -1


class Receive(NamedTuple):
    """A message to expect: from which rank, which segment, and whether it is complete.

    ``before`` says where the ranks that it combines stand: directly before those that the receiver
    has combined by then, directly after, or neither (None).
    """

    source: int
    segment: int
    final: bool
    before: bool | None = None


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
    """What one rank does: the messages that it expects, and its steps, as planned."""

    receives: tuple[Receive, ...]
    steps: tuple[Step, ...]


def ranks_of(machines: Sequence[str]) -> list[int]:
    """Return the rank of every machine: r where all are called ``rank r``, else in their order.

    >>> ranks_of(["rank 2", "rank 0", "rank 1"]), ranks_of(["a", "b"])
    ([2, 0, 1], [0, 1])
    """
    rank_of = {f"rank {rank}": rank for rank in range(len(machines))}
    if len(machines) == len(rank_of.keys() & set(machines)):
        return [rank_of[name] for name in machines]
    return list(range(len(machines)))


def tables_of(problem: Reduction, schedule: Schedule) -> list[Table]:
    """Return the table of every rank, with the peers as ranks (:func:`ranks_of`).

    Every table is a part of one order of all operations, by planned start, in which each stands
    behind all it waits for. So the first operation in that order that is not done yet can always
    be done, and no plan that the referee accepts can deadlock.

    Complexity: O(sends log sends).
    """
    ranks = ranks_of(problem.machines)
    schedule = schedule.renamed(problem.machines)
    problem = problem.with_segments(segment_count(problem, schedule))
    sends, rows = sends_of(problem, schedule)
    arrivals = reductions_of(schedule, rows)
    receives: list[list[Receive]] = [[] for _ in problem.machines]
    steps: list[list[Step]] = [[] for _ in problem.machines]
    message = {}
    spans = [[(rank, rank)] * len(problem.sizes) for rank in ranks]
    sender, receiver = sends.sender.tolist(), sends.receiver.tolist()
    segment, final = sends.segment.tolist(), sends.final.tolist()
    for node in executable(sends, schedule.start[rows], schedule.start[arrivals]):
        send = node % len(sends)
        one, other, part, last = sender[send], receiver[send], segment[send], final[send]
        if node < len(sends):
            message[send] = len(receives[other])
            receives[other].append(Receive(ranks[one], part, last))
            steps[one].append(Step(ranks[other], part, last, NO_MESSAGE, int(rows[send])))
            continue
        steps[other].append(Step(ranks[one], part, last, message[send], int(arrivals[send])))
        if not last:
            span = spans[one][part], spans[other][part]
            before = _stands_before(*span)
            spans[other][part] = min(span)[0], max(span, key=itemgetter(1))[1]
            expected = receives[other][message[send]]
            receives[other][message[send]] = expected._replace(before=before)
    tables = [
        Table(receives=tuple(own), steps=tuple(do)) for own, do in zip(receives, steps, strict=True)
    ]
    return [table for _, table in sorted(zip(ranks, tables, strict=True), key=itemgetter(0))]


def _stands_before(one: tuple[int, int], other: tuple[int, int]) -> bool | None:
    """Return whether a span of ranks stands directly before another or after, or neither (None)."""
    if one[1] + 1 == other[0]:
        return True
    return False if other[1] + 1 == one[0] else None
