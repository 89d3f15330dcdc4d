"""problem → the best lower bound."""

from __future__ import annotations

from makespan.core.problem import Problem
from makespan.core.result import Bound
from makespan.flow._kinds import kind_of


def lower_bound(problem: Problem) -> Bound:
    """Return the greatest known lower bound on the makespan, with its name and source.

    >>> from makespan import IndependentTasks
    >>> lower_bound(IndependentTasks(machines=2, durations=[3, 3, 3])).value
    6.0
    """
    return max(kind_of(problem).bounds(problem), key=lambda bound: bound.value)
