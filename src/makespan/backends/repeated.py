"""Linear programmes that HiGHS solves again and again: with other numbers, or with more rows."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from makespan.backends.highs import linear_model
from makespan.core.numeric.arrays import Floats
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
