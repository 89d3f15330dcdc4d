"""Scales that bring a problem's numbers near 1 before a solver with tolerances sees them."""

from __future__ import annotations

import math

from makespan.divisible.problem import DivisibleLoad


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
    """Return the seconds that count as 1: the deadline, or a lower bound on the makespan."""
    if problem.load is None:
        assert problem.deadline is not None
        return problem.deadline or 1.0
    from makespan.divisible.bounds import quick_bounds

    value = max((bound.value for bound in quick_bounds(problem)), default=1.0)
    return value if 0 < value < math.inf else 1.0
