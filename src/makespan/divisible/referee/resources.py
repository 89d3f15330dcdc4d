"""Rules on what can do one thing at a time: processors, ports, links, the uplink."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.report import Violation
from makespan.core.schedule import Schedule
from makespan.divisible.referee.reading import RELATIVE_TOLERANCE, Reading


class Overlap(NamedTuple):
    """Two rows that overlap, and for how long: from the later's start to the first end."""

    earlier: int
    later: int
    seconds: float


def overlaps(
    schedule: Schedule,
    rows: Integers,
    group: Integers,
    tolerance: float,
    side: NDArray[np.bool_] | None = None,
) -> Iterator[Overlap]:
    """Yield rows of the same group that overlap by more than ``tolerance`` seconds.

    Every row that overlaps an earlier one is told once, with the earlier one that ends last. With
    ``side``, only rows of different sides exclude each other. A row of no length overlaps nothing.
    Complexity: O(n log n), vectorised.
    """
    often = np.bincount(group) > 1
    if not often.any():
        return
    shared = often[group]
    rows, group = rows[shared], group[shared]
    order = _by_start(schedule.start[rows], group)
    rows, group = rows[order], group[order]
    in_turn = (schedule.start[rows[1:]] >= schedule.end[rows[:-1]]) | (group[1:] != group[:-1])
    if in_turn.all():
        return
    if side is None:
        everything = np.ones(len(rows), dtype=bool)
        yield from _against_latest(
            schedule, rows, group, tolerance, holds=everything, waits=everything
        )
    else:
        side = side[shared][order]
        yield from _against_latest(schedule, rows, group, tolerance, holds=side, waits=~side)
        yield from _against_latest(schedule, rows, group, tolerance, holds=~side, waits=side)


def _by_start(start: Floats, group: Integers) -> Integers:
    if bool(np.all(group == group[0])) and bool(np.all(start[1:] >= start[:-1])):
        return np.arange(len(start))
    return np.lexsort((start, group))


def _against_latest(
    schedule: Schedule,
    rows: Integers,
    group: Integers,
    tolerance: float,
    *,
    holds: NDArray[np.bool_],
    waits: NDArray[np.bool_],
) -> Iterator[Overlap]:
    """Compare every row that waits with the row before it that holds its group the longest.

    The ranks of the ends, above an offset for each group, make the running maximum of all groups
    at once, exactly.
    """
    start, end = schedule.start[rows], schedule.end[rows]
    count = len(rows)
    by_end = np.argsort(end, kind="stable")
    rank = np.empty(count, dtype=np.int64)
    rank[by_end] = np.arange(count)
    latest = np.maximum.accumulate(np.where(holds, group * count + rank, -1))
    before = np.concatenate([[-1], latest[:-1]])
    candidates = np.flatnonzero(waits & (before >= group * count))
    holder = by_end[before[candidates] - group[candidates] * count]
    shared = np.minimum(end[candidates], end[holder]) - start[candidates]
    for index in np.flatnonzero(shared > tolerance).tolist():
        yield Overlap(int(rows[holder[index]]), int(rows[candidates[index]]), float(shared[index]))


class Crowd(NamedTuple):
    """A moment at which too much goes on: the weight, and which entries (by position)."""

    time: float
    weight: float
    members: tuple[int, ...]


def crowds(
    start: Floats, end: Floats, weight: Floats, limit: float, tolerance: float
) -> Iterator[Crowd]:
    """Yield the moments at which the weight of what goes on rises above ``limit``.

    What overlaps by no more than ``tolerance`` seconds does not count as going on together.
    Complexity: O(n log n), vectorised.
    """
    end = end - tolerance
    lasting = np.flatnonzero(end > start)
    moment = np.concatenate([end[lasting], start[lasting]])
    change = np.concatenate([-weight[lasting], weight[lasting]])
    order = np.argsort(moment, kind="stable")
    moment, total = moment[order], np.cumsum(change[order])
    # where all that changes at a moment has changed
    settled = np.flatnonzero(np.diff(moment, append=np.inf) > 0)
    over = total[settled] > limit
    rises = np.flatnonzero(over & ~np.concatenate([[False], over[:-1]]))
    for time in moment[settled[rises]].tolist():
        members = np.flatnonzero((start <= time) & (time < end) & (weight > 0))
        yield Crowd(time, float(weight[members].sum()), tuple(members.tolist()))


def processor(reading: Reading) -> Iterator[Violation]:
    """A machine computes one chunk at a time."""
    rows = reading.computes
    group = reading.schedule.machine[rows]
    return excluded(reading, "processor", rows, group, "a machine computes one chunk at a time")


def front_end(reading: Reading) -> Iterator[Violation]:
    """Without a front end, a worker does not compute while it receives."""
    if reading.problem.front_end:
        return
    rows = np.concatenate([reading.sends, reading.computes])
    receives = np.arange(len(rows)) < len(reading.sends)
    group = reading.worker_of(rows) + 1
    why = "a worker can't compute while it receives"
    yield from excluded(reading, "front-end", rows, group, why, receives)


def ports(reading: Reading) -> Iterator[Violation]:
    """Transfers exclude each other on the master's port, its two ports, or the workers' links."""
    number = reading.problem.ports
    sends, returns = reading.sends, reading.returns
    if number == 1:
        both = np.concatenate([sends, returns]) if len(returns) else sends
        yield from excluded(reading, "one-port", both, both * 0, "one transfer at a time")
    elif number == 2:
        yield from excluded(reading, "two-port", sends, sends * 0, "one send at a time")
        yield from excluded(reading, "two-port", returns, returns * 0, "one return at a time")
    else:
        for rows, what in ((sends, "send"), (returns, "return")):
            link = reading.worker_of(rows)
            yield from excluded(reading, "link", rows, link, f"a link holds one {what} at a time")


def excluded(
    reading: Reading,
    rule: str,
    rows: Integers,
    group: Integers,
    why: str,
    side: NDArray[np.bool_] | None = None,
) -> Iterator[Violation]:
    """Yield the rows of a group that overlap, and so break a rule, with the words for it."""
    schedule = reading.schedule
    for first, second, seconds in overlaps(schedule, rows, group, reading.seconds, side):
        message = (
            f"{reading.describe(second)} starts at {schedule.start[second]:.12g}, "
            f"but {reading.describe(first)} ends at {schedule.end[first]:.12g}: {why}"
        )
        yield reading.violation(rule, message, first, second, excess=seconds)


def sends_at_a_time(reading: Reading) -> Iterator[Violation]:
    """The master has no more sends under way than it can."""
    master = reading.problem.star.master
    assert not isinstance(master, str)
    if master.sends is None:
        return
    schedule, rows = reading.schedule, reading.sends
    start, end = schedule.start[rows], schedule.end[rows]
    limit = float(master.sends)
    for crowd in crowds(start, end, np.ones(len(rows)), limit, reading.seconds):
        message = (
            f"{len(crowd.members)} sends are under way at {crowd.time:.12g}; "
            f"{master.name} can have {master.sends} at a time"
        )
        yield _crowded("sends", message, rows, crowd, limit)


def uplink(reading: Reading) -> Iterator[Violation]:
    """The rates of the sends add up to no more than the uplink.

    The data of a send flow after its fixed cost, at one rate. Each send takes as long as the
    uplink needs for it alone; and at no time do the rates add up to more.
    """
    star = reading.problem.star
    assert not isinstance(star.master, str)
    rate = star.master.uplink
    if rate is None:
        return
    schedule, rows = reading.schedule, reading.sends
    amount, end = schedule.amount[rows], schedule.end[rows]
    start = schedule.start[rows] + star.send_fixed[reading.worker_of(rows)]
    short = amount / rate - (end - start)
    for index in np.flatnonzero(short > reading.seconds).tolist():
        row = int(rows[index])
        message = f"the data of {reading.describe(row)} flow for {end[index] - start[index]:.12g}, "
        message += f"but the uplink needs {amount[index] / rate:.12g}"
        yield reading.violation("uplink", message, row, excess=float(short[index]))
    flow = amount / np.maximum(end - start + reading.seconds, np.finfo(np.float64).tiny)
    flow[short > reading.seconds] = 0.0
    for crowd in crowds(start, end, flow, rate * (1 + RELATIVE_TOLERANCE), reading.seconds):
        message = (
            f"{len(crowd.members)} sends carry {crowd.weight:.12g} units per second "
            f"at {crowd.time:.12g}; the uplink carries {rate:.12g}"
        )
        yield _crowded("uplink", message, rows, crowd, rate)


def _crowded(rule: str, message: str, rows: Integers, crowd: Crowd, limit: float) -> Violation:
    members = tuple(rows[list(crowd.members)].tolist())
    excess = crowd.weight - limit
    return Violation(
        rule=rule, message=message, activities=members, times=(crowd.time,), excess=excess
    )


RULES = (processor, front_end, ports, sends_at_a_time, uplink)
