"""One-sided derivatives of the optimum of a linear programme.

On the way to other numbers the optimum changes, to first order, by the least over all solutions of
the greatest over all dual values of the change of the Lagrangian. Where both are many, one pair of
them says what is true of neither side. A basis that is optimal a small step to one side, and the
programme's own optimum, too, has a pair of that side.

Source: Golshtein 1972, theorem on the marginal values of a convex programme.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from makespan.backends.answer import Answer, Verdict, answer_of
from makespan.backends.highs import Programme
from makespan.core.system.startup import startup

APART = 1e-7
"""Numbers that are nearer to a limit than that, or dual values to 0, may as well be there."""


class Sides:
    """The optimum of a linear programme, and how it changes on the way to others."""

    def __init__(self, programme: Programme) -> None:
        with startup():
            import highspy
        self._highspy = highspy
        self._programme = programme
        self._highs = highs = highspy.Highs()
        highs.silent()
        highs.setOptionValue("presolve", "off")
        highs.setOptionValue("threads", 1)
        for side in ("primal", "dual"):
            highs.setOptionValue(f"{side}_feasibility_tolerance", 1e-9)
        self.answer = self._solved(programme, None)
        self._basis = highs.getBasis()
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
