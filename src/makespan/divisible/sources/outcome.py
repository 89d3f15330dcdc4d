"""What a method returns of several sources."""

from __future__ import annotations

import math
from dataclasses import replace

from makespan.backends.answer import Answer
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.divisible.model.plan import computed
from makespan.divisible.one_round.linear import of_open_load, with_deadline
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.referee import violations
from makespan.divisible.sources.scaled import Scaled


def solution_of(
    problem: DivisibleLoad, plan: Schedule | None, answer: Answer | None, scaled: Scaled
) -> Solution:
    """Return a plan, and what a programme that no plan is better than proves of it.

    Parameters
    ----------
    plan
        The best plan that is known, maybe beyond the deadline; None where there is none.
    answer, scaled
        Of that programme, and what it measures in; None: nothing is proved.
    """
    if plan is None or any(True for _ in violations(undated(problem), plan)):
        return Solution(schedule=None, stopped=True)
    if problem.load is None:
        value = float(computed(plan).sum())
        proved = answer is not None and answer.proves(-value / scaled.unit)
        most = math.inf if answer is None else -answer.bound * scaled.unit
        return of_open_load(plan, value, most, proved=proved)
    if answer is None:
        return with_deadline(problem, Solution(schedule=plan))
    proved = answer.proves(plan.makespan / scaled.second)
    least = min(plan.makespan, max(0.0, answer.bound * scaled.second))
    return with_deadline(problem, Solution(schedule=plan, lower_bound=least, optimal=proved))


def undated(problem: DivisibleLoad) -> DivisibleLoad:
    """Return the problem of a load without its deadline, which is looked at when a plan is made."""
    return problem if problem.load is None else replace(problem, deadline=None)
