"""Rates of a plan: one-sided derivatives of the optimum of a linear programme.

On the way to other numbers the optimum changes, to first order, by the least over all solutions of
the greatest over all dual values of the change of the Lagrangian. Where both are many, one pair of
them says what is true of neither side. A basis that is optimal a small step to one side, and the
programme's own optimum, too, has a pair of that side.

Source: Golshtein 1972, theorem on the marginal values of a convex programme.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from makespan.backends.answer import Answer, Verdict, answer_of
from makespan.backends.highs import Programme
from makespan.backends.repeated import begun
from makespan.core.control import Control
from makespan.core.sensitivity import Rate

APART = 1e-7  # numbers as near to a limit, or dual values to 0, may as well be there


class Sides:
    """The optimum of a linear programme, and how it changes on the way to others."""

    def __init__(self, programme: Programme) -> None:
        self._programme = programme
        self._highspy, self._highs = begun(1e-9)
        self.answer = self._solved(programme, None)
        self._basis = self._highs.getBasis()
        self._differentiable = self.answer.found and self._is_unique()

    def change(self, other: Programme) -> float | None:
        """Return the change of the least value on the way to another programme, on that side.

        ``other`` has the same rows and variables with numbers a small step away. None where it has
        no optimum. Complexity: O(entries), and a few pivots where the optimum has a kink.
        """
        if self._differentiable:
            return self._programme.change(self.answer, other)
        if not self._solved(other, self._basis).found:
            return None
        if not self._highs.getInfo().simplex_iteration_count:
            return self._programme.change(self.answer, other)
        return self._programme.change(self._solved(self._programme, self._highs.getBasis()), other)

    def _solved(self, programme: Programme, basis: Any) -> Answer:
        highs = self._highs
        highs.passModel(programme.model(self._highspy))
        if basis is not None:
            highs.setBasis(basis)
        highs.run()
        answer = answer_of(highs, self._highspy, np.zeros(0, dtype=bool))
        return answer if answer.verdict is Verdict.OPTIMAL else answer.unproved()

    def _is_unique(self) -> bool:
        """Whether there is one solution, and one set of dual values: then there is no kink."""
        solution, model, basis = self._highs.getSolution(), self._highs.getLp(), self._basis
        basic = self._highspy.HighsBasisStatus.kBasic
        columns = basis.col_status, solution.col_value, solution.col_dual
        rows = basis.row_status, solution.row_value, solution.row_dual
        for (status, *found), limits in (
            (columns, (model.col_lower_, model.col_upper_)),
            (rows, (model.row_lower_, model.row_upper_)),
        ):
            inside = np.array([each == basic for each in status], dtype=bool)
            value, dual, lower, upper = map(np.asarray, (*found, *limits))
            room = np.minimum(value - lower, upper - value)
            if (room[inside] < APART).any():
                return False
            if (abs(dual[~inside & (lower < upper)]) < APART).any():
                return False
        return True


STEP = 2.0**-20  # of a number of a programme, which are near 1: no limit lies as near to another
SAME = 1e-6  # relative: rates as near as that are the same
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
        rise, fall = _rates_of(sides, number)
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
        notes.append(
            f"costs: rates are for rising costs; for falling costs some differ: {_listed(kinks)}"
        )
    if falling:
        notes.append(
            f"costs: no plan in this order allows a rise of {_listed(falling)}; "
            "the rate is of a fall"
        )
    if left_out:
        notes.append(f"costs: {left_out} rates are missing: time ran out, or they do not exist")
    return rates, notes


def _rates_of(sides: Sides, number: Number) -> tuple[float | None, float | None]:
    """Return the rate of a rise, and that of a fall where there may be one, per unit."""
    if number.stepped is None:
        return 0.0, None
    found: list[float | None] = []
    for step in (STEP, -STEP)[: 1 + (number.value > 0)]:
        change = sides.change(number.stepped(step))
        found.append(None if change is None else change / step * number.worth + number.always)
    rise, fall = (*found, None)[:2]
    return rise, fall


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
