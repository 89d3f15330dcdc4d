"""Rates of a plan: what a rise of each number is worth, and where a fall is worth another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from makespan.backends.highs import Programme
from makespan.backends.sides import Sides
from makespan.core.control import Control
from makespan.core.sensitivity import Rate

STEP = 2.0**-20
"""Of a number of a programme, which are near 1: no limit lies as near to another."""
SAME = 1e-6
"""Relative: rates as near as that are the same."""
SECONDS = 10.0
NAMED = 5  # numbers of which a note says how a fall differs


class Number(NamedTuple):
    """A number that a plan depends on.

    ``stepped`` returns the programme with a step more or less of it, None where nothing depends on
    it; ``worth`` is what a change of that by 1 is worth, per unit of the number. ``always`` is what
    a unit of the number is worth beside that.
    """

    machine: str
    cost: str
    value: float
    worth: float
    stepped: Callable[[float], Programme] | None
    always: float = 0.0

    @property
    def name(self) -> str:
        return f"{self.cost} of {self.machine}" if self.machine else self.cost


def one_sided(
    sides: Sides, numbers: Iterable[Number], control: Control
) -> tuple[list[Rate], list[str]]:
    """Return the rates of numbers, and what there is to say of them.

    A rate is that of a rise. Where no plan in its order allows one, it is that of a fall, and a
    note says so, as it does where a fall changes the plan by another rate. What is 0 can only rise.
    """
    rates: list[Rate] = []
    kinks: list[str] = []
    falling: list[str] = []
    left_out = 0
    for number in numbers:
        if control.expired():
            left_out += 1
            continue
        rise, fall = _both(sides, number)
        change = fall if rise is None else rise
        if change is None:
            left_out += 1
            continue
        if rise is None:
            falling.append(number.name)
        elif fall is not None and abs(rise - fall) > SAME * max(abs(rise), abs(fall)):
            kinks.append(f"{number.name} {fall:+.4g}")
        rates.append(
            Rate(machine=number.machine, cost=number.cost, value=number.value, change=change + 0.0)
        )
    notes = []
    if kinks:
        notes.append(f"costs: rates are of a rise; of a fall some differ: {_some(kinks)}")
    if falling:
        notes.append(
            f"costs: no plan in this order allows a rise of {_some(falling)}; the rate is of a fall"
        )
    if left_out:
        notes.append(f"costs: {left_out} rates are left out: the time was up, or they have none")
    return rates, notes


def _both(sides: Sides, number: Number) -> tuple[float | None, float | None]:
    """Return the rate of a rise, and that of a fall where there may be one, per unit."""
    if number.stepped is None:
        return 0.0, None
    found: list[float | None] = []
    for step in (STEP, -STEP)[: 1 + (number.value > 0)]:
        change = sides.change(number.stepped(step))
        found.append(None if change is None else change / step * number.worth + number.always)
    rise, fall = (*found, None)[:2]
    return rise, fall


def _some(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
