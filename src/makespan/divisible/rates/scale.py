"""Scales that bring a problem's numbers near 1 before a solver with tolerances sees them."""

from __future__ import annotations

import math

from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.quick import quick_bound


def units_scale(problem: DivisibleLoad) -> float:
    """Return the units of load that count as 1: the load, or what a second's work could be."""
    if problem.integral:
        return 1.0
    if problem.load is not None:
        return problem.load or 1.0
    assert problem.deadline is not None
    star = problem.star
    per_unit = star.send_per_unit + star.compute_per_unit
    fastest = float(per_unit[per_unit > 0].min(initial=math.inf))
    return problem.deadline / fastest if math.isfinite(fastest) and problem.deadline else 1.0


def seconds_scale(problem: DivisibleLoad) -> float:
    """Return the seconds that count as 1: the deadline, or a lower bound on the makespan.

    The bounds know nothing of fixed costs; some machine's are paid where there is a load.
    """
    if problem.load is None:
        assert problem.deadline is not None
        return problem.deadline or 1.0
    value = quick_bound(problem, 1.0)
    if problem.is_star and not problem.chooses_master and len(problem.star):
        star = problem.star
        start_up = float((star.send_fixed + star.compute_fixed + star.return_fixed).min())
        own = star.master_cost.fixed if problem.master_computes else math.inf
        value = max(value, min(start_up, own))
    return value if 0 < value < math.inf else 1.0
