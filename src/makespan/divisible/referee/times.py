"""Rules on times: durations, precedence, releases and deadlines."""

from collections.abc import Iterator

import numpy as np

from makespan.core.costs import Affine
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.report import Violation
from makespan.divisible.model.platform import Star
from makespan.divisible.referee.reading import Reading


def duration(reading: Reading) -> Iterator[Violation]:
    """An activity lasts its fixed cost plus its amount's; with an uplink, a send may be slower."""
    star = reading.problem.star
    assert not isinstance(star.master, str)
    on_workers = reading.computes[reading.worker_of(reading.computes) >= 0]
    for of, rows in (("send", reading.sends), ("compute", on_workers), ("return", reading.returns)):
        worker = reading.worker_of(rows)
        fixed, per_unit = getattr(star, f"{of}_fixed"), getattr(star, f"{of}_per_unit")
        nominal = per_unit[worker]
        nominal *= reading.schedule.amount[rows]
        if fixed.any():
            nominal += fixed[worker]
        if of == "compute" and star.beyond:
            nominal = _by_pieces(star, worker, reading.schedule.amount[rows])
        slower = of == "send" and star.master.uplink is not None
        yield from lasting(reading, rows, nominal, slower=slower)
    if isinstance(star.master.compute, Affine):
        own, cost = reading.own, star.master.compute
        nominal = cost.fixed + cost.per_unit * reading.schedule.amount[own]
        yield from lasting(reading, own, nominal)


def _by_pieces(star: Star, worker: Integers, amount: Floats) -> Floats:
    """Return the seconds of computations: the greatest of the lines that their pieces lie on."""
    rate, knee = star.compute_per_unit[worker], np.zeros(len(worker))
    value = star.compute_fixed[worker]
    seconds: Floats = value + rate * amount
    for size, cost in zip(star.beyond.above, star.beyond.per_unit, strict=True):
        there = np.isfinite(size[worker])
        at = np.where(there, size[worker], knee)
        value, knee = value + rate * (at - knee), at
        rate = np.where(there, cost[worker], rate)
        seconds = np.maximum(seconds, value + rate * (amount - knee))
    return seconds


def lasting(
    reading: Reading, rows: Integers, nominal: Floats, *, slower: bool = False
) -> Iterator[Violation]:
    """Yield the rows that do not last ``nominal`` seconds, or, if ``slower``, at least that."""
    schedule = reading.schedule
    length = schedule.end[rows]
    length -= schedule.start[rows]
    off = nominal - length
    if not slower:
        np.abs(off, out=off)
    for index in np.flatnonzero(off > reading.seconds).tolist():
        row, least = int(rows[index]), "at least " if slower else ""
        message = (
            f"{reading.describe(row)} lasts {length[index]:.12g}, "
            f"but {float(schedule.amount[row])!r} units take {least}{nominal[index]:.12g}"
        )
        yield reading.violation("duration", message, row, excess=float(off[index]))


def precedence(reading: Reading) -> Iterator[Violation]:
    """A chunk is computed after it arrived whole, and returned after it was computed."""
    schedule = reading.schedule
    for before, after, what, until in (
        (reading.send, reading.compute, "computes", "it arrives"),
        (reading.compute, reading.return_, "returns", "it is computed"),
    ):
        first, second = reading.pairs(before, after)
        early = schedule.end[first] - schedule.start[second]
        for index in np.flatnonzero(early > reading.seconds).tolist():
            row, earlier = int(second[index]), int(first[index])
            message = (
                f"{schedule.machines[int(schedule.machine[row])]} {what} chunk "
                f"{int(schedule.item[row])} from {schedule.start[row]:.12g}, "
                f"but {until} at {schedule.end[earlier]:.12g}"
            )
            yield reading.violation("precedence", message, earlier, row, excess=float(early[index]))


def windows(reading: Reading) -> Iterator[Violation]:
    """A worker computes between its release and its deadline."""
    platform, schedule = reading.platform, reading.schedule
    if not platform.release.any() and (platform.deadline == np.inf).all():
        return
    rows = reading.computes[reading.worker_of(reading.computes) >= 0]
    worker = reading.worker_of(rows)
    release, deadline = platform.release[worker], platform.deadline[worker]
    late = schedule.end[rows] - deadline
    yield from released(reading, rows, release)
    for index in np.flatnonzero(late > reading.seconds).tolist():
        row = int(rows[index])
        message = f"{reading.describe(row)} ends at {schedule.end[row]:.12g}, "
        message += f"after the worker's deadline at {deadline[index]:.12g}"
        yield reading.violation("worker-deadline", message, row, excess=float(late[index]))


def released(reading: Reading, rows: Integers, release: Floats) -> Iterator[Violation]:
    """Yield the rows that start before their release."""
    schedule = reading.schedule
    early = release - schedule.start[rows]
    for index in np.flatnonzero(early > reading.seconds).tolist():
        row = int(rows[index])
        message = f"{reading.describe(row)} starts at {schedule.start[row]:.12g}, "
        message += f"before the release at {release[index]:.12g}"
        yield reading.violation("release", message, row, excess=float(early[index]))


def deadline(reading: Reading) -> Iterator[Violation]:
    """Everything ends by the deadline."""
    limit, schedule = reading.problem.deadline, reading.schedule
    if limit is None or schedule.makespan - limit <= reading.seconds:
        return
    row = int(np.argmax(schedule.end))
    message = f"{reading.describe(row)} ends at {schedule.end[row]:.12g}, "
    message += f"after the deadline at {limit:.12g}"
    yield reading.violation("deadline", message, row, excess=schedule.makespan - limit)


RULES = (duration, precedence, windows, deadline)
