"""A linear programme that gets rows as they turn out to be needed: cutting planes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from makespan.backends.repeated import Unsolved, begun
from makespan.core.numeric.arrays import Floats


class Growing:
    """A minimisation ``cost @ x`` with ``0 <= x <= upper``, and rows that are added.

    Each solve starts from the basis of the one before.

    Parameters
    ----------
    cost, upper
        (n,): the share of each variable in the objective, and its limit.

    ``duals`` are, of the rows at the last solve, what the least value gains as a side rises by 1.

    >>> programme = Growing([1.0, 2.0], [np.inf, np.inf])
    >>> programme.row([0, 1], [1.0, 1.0], low=3.0)
    >>> programme.solve().tolist()
    [3.0, 0.0]
    >>> programme.row([0], [1.0], high=2.0)
    >>> programme.solve().tolist(), programme.duals.tolist()
    ([2.0, 1.0], [2.0, -1.0])
    >>> programme.aim([2.0, 1.0], [np.inf, np.inf])
    >>> programme.solve().tolist()
    [0.0, 3.0]
    """

    def __init__(self, cost: ArrayLike, upper: ArrayLike) -> None:
        highspy, self._highs = begun()
        self._optimal = highspy.HighsModelStatus.kOptimal
        costs = np.asarray(cost, dtype=np.float64)
        self._highs.addVars(len(costs), np.zeros(len(costs)), np.asarray(upper, np.float64))
        self.aim(costs, upper)
        self.duals: Floats = np.empty(0)

    def row(
        self, index: ArrayLike, value: ArrayLike, *, low: float = -np.inf, high: float = np.inf
    ) -> None:
        """Add the constraint ``low <= sum(value * x[index]) <= high``; no index stands twice."""
        columns = np.asarray(index, dtype=np.int32)
        factors = np.broadcast_to(np.asarray(value, np.float64), columns.shape)
        self._highs.addRow(low, high, len(columns), columns, np.ascontiguousarray(factors))

    def aim(self, cost: ArrayLike, upper: ArrayLike) -> None:
        """Give all variables other shares in the objective, and other limits."""
        costs = np.asarray(cost, dtype=np.float64)
        columns = np.arange(len(costs), dtype=np.int32)
        limits = np.asarray(upper, dtype=np.float64)
        self._highs.changeColsCost(len(costs), columns, costs)
        self._highs.changeColsBounds(len(costs), columns, np.zeros(len(costs)), limits)

    def solve(self) -> Floats:
        """Return the variables at the least value.

        Raises
        ------
        Unsolved
            Where HiGHS has no optimum.
        """
        self._highs.run()
        if self._highs.getModelStatus() != self._optimal:
            raise Unsolved(f"HiGHS has no optimum: {self._highs.getModelStatus()}")
        solution = self._highs.getSolution()
        self.duals = np.array(solution.row_dual)
        return np.array(solution.col_value)
