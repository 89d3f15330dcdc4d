"""Linear programmes that HiGHS solves again and again: with other numbers, or with more rows.

So are rates of plans found, the one-sided derivatives of an optimum. On the way to other numbers it
changes, to first order, by the least over all solutions of the greatest over all dual values of the
change of the Lagrangian. Where both are many, one pair of them says what is true of neither side. A
basis that is optimal a small step to one side, and the programme's own optimum, too, has a pair of
that side.

Source: Golshtein 1972, theorem on the marginal values of a convex programme.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from makespan.backends.answer import Answer, Verdict, answer_of
from makespan.backends.highs import Programme, linear_model
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.sensitivity import Rate
from makespan.core.system.startup import startup

TOLERANCE = 1e-10


class Unsolved(ArithmeticError):
    """HiGHS has no verdict on a programme: its numbers are too far apart, or too large."""


class Repeated:
    """A minimisation ``cost @ x`` with ``low <= matrix @ x <= high`` and ``0 <= x <= upper``.

    ``cost`` (n,) and ``low`` (m,) stay. Each solve starts from the basis of the one before, which
    small changes leave nearly right.

    >>> programme = Repeated([1.0, 2.0], [3.0])
    >>> programme.solve(np.array([[1.0, 1.0]]), np.array([3.0]), np.array([2.0, np.inf]))
    4.0
    >>> programme.values.tolist()
    [2.0, 1.0]
    """

    def __init__(self, cost: ArrayLike, low: ArrayLike) -> None:
        self.cost = np.asarray(cost, dtype=np.float64)
        self.low = np.asarray(low, dtype=np.float64)
        self.solved = 0
        self._highs: Any = None

    @property
    def values(self) -> Floats:
        """The variables of the last solution."""
        return np.array(self._highs.getSolution().col_value)

    def solve(self, matrix: Floats, high: Floats, upper: Floats) -> float:
        """Return the least value, infinite where there is none.

        Raises Unsolved where HiGHS does not say.
        """
        if self._highs is None:
            self._begin(matrix, high, upper)
        else:
            self._change(matrix, high, upper)
        self.solved += 1
        return self._value()

    def _begin(self, matrix: Floats, high: Floats, upper: Floats) -> None:
        highspy, highs = begun()
        held = matrix != 0
        model = linear_model(
            highspy,
            columns=(self.cost, np.zeros(len(self.cost)), upper),
            sides=(self.low, high),
            lengths=held.sum(axis=1),
            index=held.nonzero()[1],
            value=matrix[held],
        )
        highs.passModel(model)
        self._highs, self._statuses = highs, highspy.HighsModelStatus
        self._matrix, self._high, self._upper = matrix.copy(), high.copy(), upper.copy()

    def _change(self, matrix: Floats, high: Floats, upper: Floats) -> None:
        """Tell HiGHS what differs from the last time."""
        highs = self._highs
        rows, columns = np.nonzero(matrix != self._matrix)
        new = matrix[rows, columns].tolist()
        for row, column, value in zip(rows.tolist(), columns.tolist(), new, strict=True):
            highs.changeCoeff(row, column, value)
        for row in np.flatnonzero(high != self._high).tolist():
            highs.changeRowBounds(row, float(self.low[row]), float(high[row]))
        for column in np.flatnonzero(upper != self._upper).tolist():
            highs.changeColBounds(column, 0.0, float(upper[column]))
        self._matrix[rows, columns] = new
        self._high[:], self._upper[:] = high, upper

    def _value(self) -> float:
        """Run from the last basis; where that does not end at an optimum, from scratch."""
        for _ in range(2):
            self._highs.run()
            status = self._highs.getModelStatus()
            if status == self._statuses.kOptimal:
                return float(self._highs.getObjectiveValue())
            self._highs.clearSolver()
        if status == self._statuses.kInfeasible:
            return math.inf
        raise Unsolved(f"HiGHS left a small linear programme unsolved: {status}")


def begun(tolerance: float = TOLERANCE) -> tuple[Any, Any]:
    """Return the module of HiGHS, and an instance for small programmes that are solved often."""
    with startup():
        import highspy

    highs = highspy.Highs()
    highs.silent()
    for option, value in (
        ("presolve", "off"),
        ("threads", 1),
        ("primal_feasibility_tolerance", tolerance),
        ("dual_feasibility_tolerance", tolerance),
    ):
        highs.setOptionValue(option, value)
    return highspy, highs


class CuttingPlanes:
    """A minimisation ``cost @ x`` with ``0 <= x <= upper``, and rows that are added.

    Each solve starts from the basis of the one before. ``duals`` are, of the rows at the last
    solve, what the least value gains as a side rises by 1.

    >>> programme = CuttingPlanes([1.0, 2.0], [np.inf, np.inf])
    >>> programme.row([0, 1], [1.0, 1.0], low=3.0)
    >>> programme.solve().tolist()
    [3.0, 0.0]
    >>> programme.row([0], [1.0], high=2.0)
    >>> programme.solve().tolist(), programme.duals.tolist()
    ([2.0, 1.0], [2.0, -1.0])
    >>> programme.change_objective([2.0, 1.0], [np.inf, np.inf])
    >>> programme.solve().tolist()
    [0.0, 3.0]
    """

    def __init__(self, cost: ArrayLike, upper: ArrayLike) -> None:
        highspy, self._highs = begun()
        self._optimal = highspy.HighsModelStatus.kOptimal
        costs = np.asarray(cost, dtype=np.float64)
        self._highs.addVars(len(costs), np.zeros(len(costs)), np.asarray(upper, np.float64))
        self.change_objective(costs, upper)
        self.duals: Floats = np.empty(0)

    def row(
        self, index: ArrayLike, value: ArrayLike, *, low: float = -np.inf, high: float = np.inf
    ) -> None:
        """Add the constraint ``low <= sum(value * x[index]) <= high``; no index stands twice."""
        columns = np.asarray(index, dtype=np.int32)
        factors = np.broadcast_to(np.asarray(value, np.float64), columns.shape)
        self._highs.addRow(low, high, len(columns), columns, np.ascontiguousarray(factors))

    def change_objective(self, cost: ArrayLike, upper: ArrayLike) -> None:
        """Give all variables other shares in the objective, and other limits."""
        costs = np.asarray(cost, dtype=np.float64)
        columns = np.arange(len(costs), dtype=np.int32)
        limits = np.asarray(upper, dtype=np.float64)
        self._highs.changeColsCost(len(costs), columns, costs)
        self._highs.changeColsBounds(len(costs), columns, np.zeros(len(costs)), limits)

    def solve(self) -> Floats:
        """Return the variables at the least value. Raises Unsolved where HiGHS has no optimum."""
        self._highs.run()
        if self._highs.getModelStatus() != self._optimal:
            raise Unsolved(f"HiGHS has no optimum: {self._highs.getModelStatus()}")
        solution = self._highs.getSolution()
        self.duals = np.array(solution.row_dual)
        return np.array(solution.col_value)


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
