"""Rules on what rows there are: one send, one computation and one return a chunk, in place."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from makespan.core.report import Violation
from makespan.core.schedule import WORDS, Activity
from makespan.divisible.problem import MASTER
from makespan.divisible.referee.reading import NONE, Reading


def kind(reading: Reading) -> Iterator[Violation]:
    """Only sends, computations and returns happen."""
    found = reading.schedule.kind
    known = (found == Activity.SEND) | (found == Activity.COMPUTE) | (found == Activity.RETURN)
    for row in np.flatnonzero(~known).tolist():
        word = WORDS[int(reading.schedule.kind[row])]
        message = f"{reading.told(row)} is a {word}; here there are sends, computations and returns"
        yield reading.violation("kind", message, row)


def route(reading: Reading) -> Iterator[Violation]:
    """Sends go from the master to a worker, returns from a worker to the master."""
    schedule = reading.schedule
    stray = np.zeros(len(schedule), dtype=bool)
    stray[(schedule.kind == Activity.SEND) | (schedule.kind == Activity.RETURN)] = True
    stray[reading.sends] = stray[reading.returns] = False
    stray[reading.computes] = schedule.peer[reading.computes] != NONE
    for row in np.flatnonzero(stray).tolist():
        sender = schedule.machines[int(schedule.machine[row])]
        peer = int(schedule.peer[row])
        receiver = schedule.machines[peer] if peer >= 0 else "no machine"
        if schedule.kind[row] == Activity.COMPUTE:
            message = f"{reading.told(row)} has the peer {receiver}; a computation has none"
        elif schedule.kind[row] == Activity.SEND:
            message = (
                f"chunk {int(schedule.item[row])} is sent from {sender} to {receiver}; "
                f"a send goes from {reading.name(-1)} to a worker"
            )
        else:
            message = (
                f"chunk {int(schedule.item[row])} returns from {sender} to {receiver}; "
                f"a return goes from a worker to {reading.name(-1)}"
            )
        yield reading.violation("route", message, row)


def chunk(reading: Reading) -> Iterator[Violation]:
    """Each chunk is sent, computed and, with a return cost, returned: each exactly once."""
    for row in reading.repeated.tolist():
        yield reading.violation("chunk", f"{reading.told(row)} stands twice", row)
    for row in reading.orphans.tolist():
        yield reading.violation("chunk", f"{reading.told(row)} is of a chunk never sent", row)
    returns = reading.platform.returns[reading.worker_of(reading.send)]
    tests = (
        (reading.compute == NONE, "but never computed"),
        (returns & (reading.return_ == NONE), "but its result is never returned"),
    )
    for missing, what in tests:
        for index in np.flatnonzero(missing).tolist():
            row = int(reading.send[index])
            name = reading.name(int(reading.worker_of(reading.send[index : index + 1])[0]))
            message = f"chunk {int(reading.chunk[index])} is sent to {name}, {what}"
            yield reading.violation("chunk", message, row)
    for index in np.flatnonzero(~returns & (reading.return_ != NONE)).tolist():
        row = int(reading.return_[index])
        message = f"{reading.told(row)} is too much: it has no return cost, so nothing returns"
        yield reading.violation("chunk", message, row)


def machine(reading: Reading) -> Iterator[Violation]:
    """A chunk is computed on the worker that it was sent to, and returned from there."""
    schedule = reading.schedule
    for rows in (reading.compute, reading.return_):
        send, row = reading.pairs(reading.send, rows)
        wrong = np.flatnonzero(schedule.machine[row] != schedule.peer[send])
        for first, second in zip(send[wrong].tolist(), row[wrong].tolist(), strict=True):
            name = schedule.machines[int(schedule.peer[first])]
            message = f"{reading.told(second)}: the chunk was sent to {name}"
            yield reading.violation("machine", message, first, second)


def amount(reading: Reading) -> Iterator[Violation]:
    """A chunk keeps its amount."""
    amounts = reading.schedule.amount
    for rows in (reading.compute, reading.return_):
        send, row = reading.pairs(reading.send, rows)
        difference = amounts[row]
        difference -= amounts[send]
        np.abs(difference, out=difference)
        for index in np.flatnonzero(difference > reading.units).tolist():
            first, second = int(send[index]), int(row[index])
            message = (
                f"{reading.told(second)} handles {float(amounts[second])!r} units, "
                f"but {float(amounts[first])!r} were sent"
            )
            excess = float(difference[index])
            yield reading.violation("amount", message, first, second, excess=excess)


def empty(reading: Reading) -> Iterator[Violation]:
    """Nothing of amount 0 has a row, except what the problem asks for all the same."""
    problem, schedule = reading.problem, reading.schedule
    nothing = schedule.amount == 0
    if problem.activation is not None or problem.transfers is not None or problem.use == "all":
        nothing &= (schedule.kind == Activity.COMPUTE) & (schedule.machine == MASTER)
    for row in np.flatnonzero(nothing).tolist():
        message = f"{reading.told(row)} is empty; only chunks that the problem asks for may be"
        yield reading.violation("empty", message, row)


def master(reading: Reading) -> Iterator[Violation]:
    """The master computes only if it has a compute cost."""
    holder = reading.problem.star.master
    assert not isinstance(holder, str)
    if holder.compute is None:
        for row in reading.own.tolist():
            message = f"{holder.name} computes chunk {int(reading.schedule.item[row])}, but it "
            message += "has no compute cost, so it does not compute"
            yield reading.violation("master", message, row)


RULES = (kind, route, chunk, machine, amount, empty, master)
