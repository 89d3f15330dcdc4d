"""The rules of several sources: who sends, what it holds, and the ports of both ends."""

from collections.abc import Iterator

import numpy as np

from makespan.core.report import Violation
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.referee import chunks, resources, times
from makespan.divisible.referee.reading import NONE, Reading


def sources_violations(problem: DivisibleLoad, schedule: Schedule) -> Iterator[Violation]:
    """Yield everything that breaks a problem of several sources; O(rows log rows), vectorised."""
    reading = Reading.of(problem, schedule)
    for rule in RULES:
        yield from rule(reading)


def route(reading: Reading) -> Iterator[Violation]:
    """Sends go from a source to a worker, over a link; computations are on those that compute."""
    schedule, platform = reading.schedule, reading.problem.grid
    links, names = platform.send_per_unit, schedule.machines
    stray = schedule.kind == Activity.SEND
    stray[reading.sends] = False
    peer = reading.worker_of(reading.sends)
    stray[reading.sends[np.isinf(links[schedule.machine[reading.sends], peer])]] = True
    for row in np.flatnonzero(stray).tolist():
        to = names[int(schedule.peer[row])] if schedule.peer[row] >= 0 else "no machine"
        message = f"chunk {int(schedule.item[row])} is sent from {names[schedule.machine[row]]} "
        message += f"to {to}; a send goes from a source to a worker that it has a link to"
        yield reading.violation("route", message, row)
    for row in reading.computes[schedule.peer[reading.computes] != NONE].tolist():
        message = f"{reading.describe(row)} has the peer {names[schedule.peer[row]]}; it has none"
        yield reading.violation("route", message, row)
    for row in reading.own[~platform.computes[schedule.machine[reading.own]]].tolist():
        message = f"{reading.describe(row)}: a source without a compute cost does not compute"
        yield reading.violation("master", message, row)


def duration(reading: Reading) -> Iterator[Violation]:
    """Sends and computations last as long as they cost."""
    schedule, platform = reading.schedule, reading.problem.grid
    worker = reading.worker_of(reading.sends)
    source = schedule.machine[reading.sends]
    linked = np.isfinite(platform.send_per_unit[source, worker])
    sends, link = reading.sends[linked], (source[linked], worker[linked])
    at_home = schedule.machine[reading.computes] < reading.holders
    own, sent = reading.computes[at_home], reading.computes[~at_home]
    own = own[platform.computes[schedule.machine[own]]]
    holder, at = schedule.machine[own], reading.worker_of(sent)
    amount = schedule.amount
    for rows, fixed, per_unit in (
        (sends, platform.send_fixed[link], platform.send_per_unit[link]),
        (sent, platform.compute_fixed[at], platform.compute_per_unit[at]),
        (own, platform.own_fixed[holder], platform.own_per_unit[holder]),
    ):
        yield from times.lasting(reading, rows, fixed + per_unit * amount[rows])


def released(reading: Reading) -> Iterator[Violation]:
    """A source sends and computes from its release on."""
    schedule = reading.schedule
    rows = np.concatenate(
        [reading.sends, reading.computes[schedule.machine[reading.computes] < reading.holders]]
    )
    yield from times.released(
        reading, rows, reading.problem.grid.source_release[schedule.machine[rows]]
    )


def ports(reading: Reading) -> Iterator[Violation]:
    """A source sends, and a worker receives, one chunk at a time; or each link carries one."""
    schedule, rows = reading.schedule, reading.sends
    source, worker = schedule.machine[rows], reading.worker_of(rows)
    if reading.problem.ports == "many":
        link = source * len(reading.platform) + worker
        yield from resources.excluded(
            reading, "link", rows, link, "a link holds one send at a time"
        )
        return
    yield from resources.excluded(
        reading, "one-port", rows, source, "a source sends one chunk at a time"
    )
    text = "a worker receives one chunk at a time"
    yield from resources.excluded(reading, "reception", rows, worker, text)


def held(reading: Reading) -> Iterator[Violation]:
    """A source sends and computes what it holds, where that is nowhere else."""
    shares, schedule = reading.problem.grid.held, reading.schedule
    if shares is None:
        return
    rows = np.concatenate([reading.sends, reading.own])
    used = np.bincount(schedule.machine[rows], schedule.amount[rows], minlength=reading.holders)
    off = np.abs(used - shares)
    for source in np.flatnonzero(off > reading.units).tolist():
        message = f"{schedule.machines[source]} sends and computes {float(used[source])!r} units, "
        message += f"but holds {float(shares[source])!r}"
        yield Violation(rule="conservation", message=message, excess=float(off[source]))


def rounds(reading: Reading) -> Iterator[Violation]:
    """A source sends a worker at most so many chunks as there are rounds."""
    most, schedule, rows = reading.problem.rounds, reading.schedule, reading.sends
    if most == "auto" or not len(rows):
        return
    link = schedule.machine[rows] * len(reading.platform) + reading.worker_of(rows)
    found, first, number = np.unique(link, return_index=True, return_counts=True)
    for index in np.flatnonzero(number > most).tolist():
        source, worker = divmod(int(found[index]), len(reading.platform))
        message = f"{schedule.machines[source]} sends {reading.name(worker)} {number[index]} "
        message += f"chunks, but rounds is {most}"
        yield reading.violation("rounds", message, int(rows[first[index]]))


RULES = (
    chunks.kind,
    route,
    chunks.chunk,
    chunks.machine,
    chunks.amount,
    chunks.empty,
    duration,
    released,
    times.precedence,
    times.windows,
    times.deadline,
    resources.processor,
    ports,
    chunks.conservation,
    held,
    chunks.memory,
    rounds,
)
