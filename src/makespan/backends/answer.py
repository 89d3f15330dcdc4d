"""What HiGHS answers: a verdict, a solution, and a bound rounded outward by its tolerances."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Floats

WITHIN = 1e-8
"""How near the value of a linear programme is to the truth, relative to 1 or its value. Rows are
kept to 1e-9, and values near 1 are made of few of them."""
MIXED_WITHIN = 1e-6
"""The same for mixed-integer programmes: HiGHS keeps rows and whole numbers to 1e-6, and gives up
what could be better by less than that."""
SLACK = 1e-4
"""Relative: plans that end so little beyond the horizon of a programme are of interest, too: far
more than HiGHS may be off by, so that the plan that is known is one of them."""


class Verdict(StrEnum):
    """How a programme ended."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"  # stopped early, with an incumbent
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    NOTHING = "nothing"  # stopped early, without an incumbent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answer:
    """What HiGHS found.

    ``bound`` is a bound on the least value, rounded down by the tolerance ``within`` of the
    solver; ``values`` holds the variables, empty where there is no incumbent. Those that are
    whole are so exactly. ``duals`` are, of linear programmes, what the value gains as a row's side
    rises by 1, ``reduced`` as the limit of a variable does.
    """

    verdict: Verdict
    value: float
    bound: float
    values: Floats
    within: float
    duals: Floats = field(default_factory=lambda: np.empty(0))
    reduced: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def found(self) -> bool:
        return self.verdict in (Verdict.OPTIMAL, Verdict.FEASIBLE)

    def unproved(self) -> Answer:
        """Return the same without its claims: a solution is one that was found, not the best."""
        verdict = Verdict.FEASIBLE if self.found else Verdict.NOTHING
        return replace(self, verdict=verdict, bound=-math.inf)

    def proves(self, value: float) -> bool:
        """Whether nothing is better than ``value``, seen by other means, to within the tolerance.

        This is what makes a plan optimal, not the verdict.
        """
        return value <= self.bound + 1.5 * self.within * max(1.0, abs(value))


NOTHING = Answer(
    verdict=Verdict.NOTHING, value=math.inf, bound=-math.inf, values=np.empty(0), within=WITHIN
)


def answer_of(highs: Any, highspy: Any, integer: np.ndarray) -> Answer:
    """Read what HiGHS has found; ``integer`` says which variables are whole."""
    status = highs.getModelStatus()
    info = highs.getInfo()
    statuses = highspy.HighsModelStatus
    mixed = bool(integer.any())
    feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    if status == statuses.kOptimal:
        verdict = Verdict.OPTIMAL
    elif status == statuses.kInfeasible:
        verdict = Verdict.INFEASIBLE
    elif status in (statuses.kUnbounded, statuses.kUnboundedOrInfeasible):
        verdict = Verdict.UNBOUNDED
    else:
        verdict = Verdict.FEASIBLE if mixed and feasible else Verdict.NOTHING
    found = verdict in (Verdict.OPTIMAL, Verdict.FEASIBLE)
    solution = highs.getSolution()
    values = np.array(solution.col_value) if found else np.empty(0)
    values[integer[: len(values)]] = np.rint(values[integer[: len(values)]])
    value = float(info.objective_function_value) if found else math.inf
    bound = float(info.mip_dual_bound) if mixed else value
    within = MIXED_WITHIN if mixed else WITHIN
    dual = found and not mixed
    return Answer(
        verdict=verdict,
        value=value,
        bound=bound - within * max(1.0, abs(bound)) if math.isfinite(bound) else -math.inf,
        values=values,
        within=within,
        duals=np.array(solution.row_dual) if dual else np.empty(0),
        reduced=np.array(solution.col_dual) if dual else np.empty(0),
    )
