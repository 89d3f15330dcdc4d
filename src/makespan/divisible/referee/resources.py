"""Rules on what can do one thing at a time: processors, ports, links, the uplink."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.report import Violation
from makespan.divisible.referee.overlaps import Crowd, Overlap, crowds, overlaps
from makespan.divisible.referee.reading import RELATIVE_TOLERANCE, Reading


def processor(reading: Reading) -> Iterator[Violation]:
    """A machine computes one chunk at a time."""
    rows = reading.computes
    group = reading.schedule.machine[rows]
    for overlap in overlaps(reading.schedule, rows, group, reading.seconds):
        yield _told(reading, "processor", overlap, "a machine computes one chunk at a time")


def front_end(reading: Reading) -> Iterator[Violation]:
    """Without a front end, a worker does not compute while it receives."""
    if reading.problem.front_end:
        return
    rows = np.concatenate([reading.sends, reading.computes])
    receives = np.arange(len(rows)) < len(reading.sends)
    group = reading.worker_of(rows) + 1
    for overlap in overlaps(reading.schedule, rows, group, reading.seconds, receives):
        yield _told(reading, "front-end", overlap, "a worker can't compute while it receives")


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
    reading: Reading, rule: str, rows: Integers, group: Integers, why: str
) -> Iterator[Violation]:
    """Yield the rows of a group that overlap, and so break a rule, with the words for it."""
    for overlap in overlaps(reading.schedule, rows, group, reading.seconds):
        yield _told(reading, rule, overlap, why)


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
        message = f"the data of {reading.told(row)} flow for {end[index] - start[index]:.12g}, "
        message += f"but the uplink needs {amount[index] / rate:.12g}"
        yield reading.violation("uplink", message, row, excess=float(short[index]))
    flow = amount / np.maximum(end - start + reading.seconds, np.finfo(np.float64).tiny)
    flow[short > reading.seconds] = 0.0
    limit = rate * (1 + RELATIVE_TOLERANCE)
    for crowd in crowds(start, end, flow, limit, reading.seconds):
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


def _told(reading: Reading, rule: str, overlap: Overlap, why: str) -> Violation:
    schedule, (first, second, seconds) = reading.schedule, overlap
    message = (
        f"{reading.told(second)} starts at {schedule.start[second]:.12g}, "
        f"but {reading.told(first)} ends at {schedule.end[first]:.12g}: {why}"
    )
    return reading.violation(rule, message, first, second, excess=seconds)


RULES = (processor, front_end, ports, sends_at_a_time, uplink)
