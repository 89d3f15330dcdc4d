"""Rules on rows: one send, computation and return a chunk, and what chunks hold and add up to."""

from collections.abc import Iterator

import numpy as np

from makespan.core.report import Violation
from makespan.core.schedule import WORDS, Activity
from makespan.divisible.problem import MASTER
from makespan.divisible.referee.reading import NONE, RELATIVE_TOLERANCE, Reading


def kind(reading: Reading) -> Iterator[Violation]:
    """Only sends, computations and returns happen."""
    found = reading.schedule.kind
    known = (found == Activity.SEND) | (found == Activity.COMPUTE) | (found == Activity.RETURN)
    for row in np.flatnonzero(~known).tolist():
        word = WORDS[int(reading.schedule.kind[row])]
        message = (
            f"{reading.describe(row)} is a {word}; here there are sends, computations and returns"
        )
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
            message = f"{reading.describe(row)} has the peer {receiver}; a computation has none"
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
        yield reading.violation("chunk", f"{reading.describe(row)} stands twice", row)
    for row in reading.orphans.tolist():
        yield reading.violation("chunk", f"{reading.describe(row)} is of a chunk never sent", row)
    returns = reading.platform.returns[reading.worker_of(reading.send)]
    for missing, what in (
        (reading.compute == NONE, "but never computed"),
        (returns & (reading.return_ == NONE), "but its result is never returned"),
    ):
        for index in np.flatnonzero(missing).tolist():
            row = int(reading.send[index])
            name = reading.name(int(reading.worker_of(reading.send[index : index + 1])[0]))
            message = f"chunk {int(reading.chunk[index])} is sent to {name}, {what}"
            yield reading.violation("chunk", message, row)
    for index in np.flatnonzero(~returns & (reading.return_ != NONE)).tolist():
        row = int(reading.return_[index])
        message = f"{reading.describe(row)} is too much: it has no return cost, so nothing returns"
        yield reading.violation("chunk", message, row)


def machine(reading: Reading) -> Iterator[Violation]:
    """A chunk is computed on the worker that it was sent to, and returned from there."""
    schedule = reading.schedule
    for rows in (reading.compute, reading.return_):
        send, row = reading.pairs(reading.send, rows)
        wrong = np.flatnonzero(schedule.machine[row] != schedule.peer[send])
        for first, second in zip(send[wrong].tolist(), row[wrong].tolist(), strict=True):
            name = schedule.machines[int(schedule.peer[first])]
            message = f"{reading.describe(second)}: the chunk was sent to {name}"
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
                f"{reading.describe(second)} handles {float(amounts[second])!r} units, "
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
        message = f"{reading.describe(row)} is empty; only chunks that the problem asks for may be"
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


def conservation(reading: Reading) -> Iterator[Violation]:
    """The computed amounts add up to the load."""
    load = reading.problem.load
    if load is None:
        return
    total = float(reading.schedule.amount[reading.computes].sum())
    if abs(total - load) > reading.units:
        yield Violation(
            rule="conservation",
            message=f"{total!r} units are computed, but the load is {load!r}",
            excess=abs(total - load),
        )


def loads(reading: Reading) -> Iterator[Violation]:
    """Each machine computes its given load; one that is not named computes nothing."""
    given, master = reading.problem.loads, reading.problem.star.master
    if given is None:
        return
    assert not isinstance(master, str)
    names, rows = reading.problem.machines, reading.computes
    computed = np.bincount(
        reading.schedule.machine[rows], reading.schedule.amount[rows], minlength=len(names)
    )
    wanted = np.concatenate([[float(given.get(master.name, 0.0))], reading.problem.given_amounts])
    difference = np.abs(computed - wanted)
    for index in np.flatnonzero(difference > reading.units).tolist():
        yield Violation(
            rule="loads",
            message=f"{names[index]} computes {float(computed[index])!r} units, "
            f"but its given load is {float(wanted[index])!r}",
            excess=float(difference[index]),
        )


def integral(reading: Reading) -> Iterator[Violation]:
    """Chunks are whole units, where the problem says so."""
    if not reading.problem.integral:
        return
    amount = reading.schedule.amount
    off = np.abs(amount - np.round(amount))
    for row in np.flatnonzero(off > RELATIVE_TOLERANCE).tolist():
        message = (
            f"{reading.describe(row)} handles {float(amount[row])!r} units, not a whole number"
        )
        yield reading.violation("integral", message, row, excess=float(off[row]))


def memory(reading: Reading) -> Iterator[Violation]:
    """No chunk is larger than the memory of its worker."""
    if (reading.platform.memory == np.inf).all():
        return
    limit = reading.platform.memory[reading.worker_of(reading.sends)]
    over = reading.schedule.amount[reading.sends] - limit
    for index in np.flatnonzero(over > reading.units).tolist():
        row = int(reading.sends[index])
        message = f"{reading.describe(row)} is {float(reading.schedule.amount[row])!r} units, "
        message += f"but its memory holds {float(limit[index])!r}"
        yield reading.violation("memory", message, row, excess=float(over[index]))


def budget(reading: Reading) -> Iterator[Violation]:
    """The prices of the workers that take part add up to no more than the budget."""
    limit = reading.problem.budget
    if limit is None:
        return
    star = reading.problem.star
    worker = reading.worker_of(reading.sends)
    load = np.bincount(worker, reading.schedule.amount[reading.sends], minlength=len(star))
    takes_part = np.bincount(worker, minlength=len(star)) > 0
    each = star.price_fixed + star.price_per_second * reading.schedule.makespan
    price = float((each * takes_part + star.price_per_unit * load).sum())
    if price - limit > RELATIVE_TOLERANCE * limit:
        yield Violation(
            rule="budget",
            message=f"the workers' prices add up to {price!r}, but the budget is {limit!r}",
            excess=price - limit,
        )


AMOUNTS = (conservation, loads, integral, memory, budget)
