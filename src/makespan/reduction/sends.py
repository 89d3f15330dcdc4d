"""The sends of a plan in columns, with what each of them costs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from makespan.core.errors import ExecutionError
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import sorted_by
from makespan.core.schedule import Activity, Schedule
from makespan.core.system.memory import claim
from makespan.reduction.problem import Reduction

Whole = Integers | Floats
BYTES_PER_SEND = {"all-reduce": 450}
BYTES_ONE_WAY = 340
"""The most that was measured: a plan, its times and its rows, and what the referee compares."""


def claim_sends(problem: Reduction, each: int | None = None) -> None:
    """Ask for the memory that plans of a problem take, ``each`` bytes a send if that is known."""
    sends = sends_in(problem)
    each = each or BYTES_PER_SEND.get(problem.collective, BYTES_ONE_WAY)
    claim(each * sends, f"the plan of {sends:,} sends")


def sends_in(problem: Reduction) -> int:
    """Return how many sends a plan of a problem has that forwards nothing without need."""
    assert problem.segments != "auto"
    if problem.collective in ("reduce", "broadcast", "all-reduce"):
        ways = 2 if problem.collective == "all-reduce" else 1
        return ways * (len(problem.machines) - 1) * problem.segments
    before, after, combining = problem.statement
    if not combining:
        return int((after & ~before).sum())
    return int(before.sum() + after.sum()) - 2 * problem.items


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sends:
    """One row per send: who sends which segment to whom.

    ``final`` marks the sends of a broadcast: they carry the complete segment, and nothing is
    combined where they arrive.
    """

    sender: Integers
    receiver: Integers
    segment: Integers
    final: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.sender)

    def take(self, rows: Integers) -> Sends:
        return Sends(**{name: getattr(self, name)[rows] for name in self.__slots__})


class Tables(NamedTuple):
    """The costs as the rules take them: whole numbers of a common unit where there is one.

    Tables are 1 × 1, and the column of the machines has one entry, where all are the same. The
    transfer over a missing link is negative.
    """

    transfer: Any
    latency: Any
    reduce: Any
    size: Any
    unit: Fraction | None

    def over(self, machines: int) -> Tables:
        """Return the same with an entry for each machine and pair, for few machines."""
        pairs = (machines, machines)
        transfer, latency = (np.broadcast_to(table, pairs) for table in self[:2])
        reduce = np.broadcast_to(self.reduce, (machines,))
        return self._replace(transfer=transfer, latency=latency, reduce=reduce)


def tables_of(problem: Reduction) -> Tables:
    """Return the costs of a problem for the rules."""
    floats = float_tables_of(problem)
    if problem.grid is None:
        return floats
    unit, parts = problem.grid

    def whole(values: Any, scale: Fraction) -> Any:
        counts = np.rint(values * float(scale)).astype(np.int64)
        return counts if problem.links is None else np.where(values < 0, -1, counts)

    return Tables(
        whole(floats.transfer, 1 / unit),
        whole(floats.latency, parts / unit),
        whole(floats.reduce, 1 / unit),
        whole(floats.size, Fraction(parts)),
        unit / parts,
    )


def float_tables_of(problem: Reduction) -> Tables:
    """Return the costs of a problem in seconds."""
    transfer, latency = (
        np.array(table, dtype=float, ndmin=2) for table in (problem.transfer, problem.latency)
    )
    if problem.links is not None:
        transfer = np.where(problem.links, transfer, -1.0)
        latency = np.where(problem.links, latency, 0.0)
    return Tables(
        transfer,
        latency,
        np.array(problem.reduce, dtype=float, ndmin=1),
        np.array(problem.sizes),
        None,
    )


@dataclass(frozen=True, slots=True, eq=False)
class SendCosts:
    """Latency, transfer and reduce time of every send, in whole units of time where there are any.

    ``shared`` are the links, then -1, that each send shares with others, a row for each, and
    ``ahead`` the latency before it gets there. ``seconds`` turns such times into seconds.
    """

    latency: Whole
    transfer: Whole
    reduce: Whole
    shared: Integers
    ahead: Whole
    unit: Fraction | None

    def seconds(self, *columns: Whole) -> Floats:
        """Return columns of times, one after another, as seconds; each is rounded once."""
        seconds = np.concatenate(columns, dtype=np.float64)
        if self.unit is not None:
            seconds *= float(self.unit.numerator)
            seconds /= self.unit.denominator
        return seconds

    def entering(self, start: Floats) -> Whole:
        """Return when each send enters its shared links, from starts in seconds."""
        return np.asarray(self.units(start)[:, None] + self.ahead)

    def units(self, seconds: Floats) -> Floats:
        """Return seconds as the nearest whole units, or as they are."""
        return seconds if self.unit is None else np.asarray(np.rint(seconds / float(self.unit)))

    def order_of_arrival(self, start: Floats, combined: Floats) -> Integers:
        """Return the rows in the order in which they begin to arrive, from starts in seconds.

        On ties, what takes no time is first, as it can't be in the midst of another arrival; of
        such, what is ``combined`` first.
        """
        return sorted_by(self.units(start) + self.latency, self.transfer, combined)


def costs_of(problem: Reduction, sends: Sends) -> SendCosts:
    """Return what every send costs: int64 columns where all times have a common unit."""
    tables = tables_of(problem)
    size = tables.size[sends.segment]

    def of(table: Any, *places: Integers) -> Any:
        return table[places] if len(table) > 1 else np.full(len(sends), table.flat[0])

    latency, transfer = (
        of(table, sends.sender, sends.receiver) for table in (tables.latency, tables.transfer)
    )
    reduce = of(tables.reduce, sends.receiver) * size
    reduce[sends.final] = 0
    shared, ahead = (table[sends.sender, sends.receiver] for table in shared_links(problem, tables))
    return SendCosts(latency, transfer * size, reduce, shared, ahead, tables.unit)


def shared_links(problem: Reduction, tables: Tables) -> tuple[Any, Any]:
    """Return the links that sends share, and the latencies before them, in the tables' unit.

    Shape (machines, machines, most on a way); nothing is on the ways where none is shared.
    """
    count, ways = len(problem.machines), problem.shared
    if ways is None:
        empty = np.zeros((), dtype=np.int64), np.zeros((), dtype=tables.latency.dtype)
        shared, ahead = (np.broadcast_to(each, (count, count, 0)) for each in empty)
        return shared, ahead
    if tables.unit is None:
        return ways.shared, ways.ahead
    return ways.shared, np.rint(ways.ahead / float(tables.unit)).astype(np.int64)


def segment_count(problem: Reduction, schedule: Schedule) -> int:
    """Return the number of segments: the problem's, or as many as the schedule handles."""
    if problem.segments != "auto":
        return problem.segments
    return int(schedule.item.max(initial=0)) + 1


def sends_of(problem: Reduction, schedule: Schedule) -> tuple[Sends, Integers]:
    """Return the sends of a schedule in the order of their start, and their rows there.

    Where complete segments are copied after being combined, the first send of a segment by a
    machine is its contribution, but for the machine that has it complete: its first send is the
    last first one of all that held a part. All other sends are copies.
    """
    rows = schedule.rows_of(Activity.SEND)
    sender, segment = schedule.machine[rows], schedule.item[rows]
    problem = problem.with_segments(segment_count(problem, schedule))
    if problem.statement.one_way:
        final = np.full(len(rows), not problem.statement.combining)
    else:
        final = _copies(problem, sender, segment)
    sends = Sends(sender=sender, receiver=schedule.peer[rows], segment=segment, final=final)
    return sends, rows


def _copies(problem: Reduction, sender: Integers, segment: Integers) -> NDArray[np.bool_]:
    before, after, _ = problem.statement
    _, first = np.unique(segment * len(problem.machines) + sender, return_index=True)
    first = first[before[sender[first], segment[first]]]
    final = np.ones(len(sender), dtype=bool)
    final[first] = False
    last = np.full(problem.items, -1)
    np.maximum.at(last, segment[first], first)
    final[last[(last >= 0) & (after.sum(axis=0) > 1)]] = True
    return final


def executable(sends: Sends, start: Floats, combined: Floats) -> list[int]:
    """Return all operations by planned start, each behind those that it waits for.

    Operation s is send s, planned to ``start``; operation s + len(sends) is what its receiver does
    with it, planned to begin at ``combined``. Raises ExecutionError if some wait for each other.
    Complexity: O(sends log sends).
    """
    count = len(sends)
    starts, arrivals = start.tolist(), combined.tolist()
    sender, receiver = sends.sender.tolist(), sends.receiver.tolist()
    segment, final = sends.segment.tolist(), sends.final.tolist()
    missing: dict[tuple[bool, int, int], int] = defaultdict(int)
    waiting: dict[tuple[bool, int, int], list[int]] = defaultdict(list)
    for send in range(count):
        missing[final[send], receiver[send], segment[send]] += 1
    for send in range(count):  # who gets a segment complete sends it on; others combine it first
        complete = final[send] and (True, sender[send], segment[send]) in missing
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
            heappush(ready, (arrivals[node], node + count))
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


def reductions_of(schedule: Schedule, rows: Integers) -> Integers:
    """Return the row of the reduction of each send; the send where their numbers differ."""
    machine, peer, item = schedule.machine, schedule.peer, schedule.item
    combined, matched = schedule.rows_of(Activity.REDUCE), rows.copy()
    if len(combined) == len(rows):
        ours = np.lexsort((item[rows], machine[rows], peer[rows]))
        theirs = np.lexsort((item[combined], peer[combined], machine[combined]))
        matched[ours] = combined[theirs]
    return matched


def schedule_of(
    problem: Reduction,
    sends: Sends,
    costs: SendCosts,
    start: Whole,
    combined: Whole,
    *,
    earliest: bool = False,
) -> Schedule:
    """Return the rows of sends that start at ``start`` and are combined by ``combined``.

    Every send has a ``reduce`` row on its receiver. Where nothing is combined (in a broadcast),
    that row takes no time and marks the arrival.
    """
    return Schedule.of_columns(
        problem.machines,
        kind=np.repeat(np.array([Activity.SEND, Activity.REDUCE], dtype=np.int8), len(sends)),
        machine=np.concatenate([sends.sender, sends.receiver]),
        peer=np.concatenate([sends.receiver, sends.sender]),
        item=np.tile(sends.segment, 2),
        amount=np.tile(problem.sizes[sends.segment], 2),
        start=costs.seconds(start, combined - costs.reduce),
        end=costs.seconds(start + costs.transfer, combined),
        earliest=earliest,
        copy=False,
    )
