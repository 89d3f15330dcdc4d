"""Rules on amounts: conservation, given loads, whole units, memory and the budget."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from makespan.core.report import Violation
from makespan.divisible.referee.reading import RELATIVE_TOLERANCE, Reading


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
        message = f"{reading.told(row)} handles {float(amount[row])!r} units, not a whole number"
        yield reading.violation("integral", message, row, excess=float(off[row]))


def memory(reading: Reading) -> Iterator[Violation]:
    """No chunk is larger than the memory of its worker."""
    if (reading.platform.memory == np.inf).all():
        return
    limit = reading.platform.memory[reading.worker_of(reading.sends)]
    over = reading.schedule.amount[reading.sends] - limit
    for index in np.flatnonzero(over > reading.units).tolist():
        row = int(reading.sends[index])
        message = f"{reading.told(row)} is {float(reading.schedule.amount[row])!r} units, "
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


RULES = (conservation, loads, integral, memory, budget)
