"""schedule → Report."""

from __future__ import annotations

from typing import overload

from makespan.core.inputs.suggest import suggesting
from makespan.core.problem import Problem
from makespan.core.report import Report, Violation
from makespan.core.schedule import Schedule
from makespan.flow.kinds import kind_of
from makespan.flow.referee import referee
from makespan.flow.result import Result


@overload
def check(problem: Result, schedule: None = None) -> Report: ...
@overload
def check(problem: Problem, schedule: Schedule) -> Report: ...
@suggesting
def check(problem: Problem | Result, schedule: Schedule | None = None) -> Report:
    """Put a schedule before the independent referee.

    Parameters
    ----------
    problem
        The problem, or a result, which brings its schedule and what it states about it.
    schedule
        The schedule, made by makespan or elsewhere; its machines are matched by name.

    Returns
    -------
    Report
        ``report.ok``, ``report.violations``; ``report.raise_if_invalid()``.

    Times are compared to within 1e-9 of the makespan, amounts to within 1e-9 of the load.

    >>> from makespan import DivisibleLoad, Star, Worker, solve
    >>> result = solve(DivisibleLoad(load=1.0, platform=Star([Worker(send=1.0, compute=3.0)])))
    >>> print(check(result))
    valid, ends at 4
    """
    if isinstance(problem, Result):
        return _check_result(problem)
    if schedule is None:
        raise TypeError("check takes a result, or a problem and a schedule")
    return referee(kind_of(problem), problem, schedule)


def _check_result(result: Result) -> Report:
    if result.schedule is None:
        return Report()
    report = referee(kind_of(result.problem), result.problem, result.schedule)
    stated = list(_misstatements(result, result.schedule.makespan))
    return Report(
        violations=report.violations + tuple(stated),
        omitted=report.omitted,
        makespan=report.makespan,
    )


def _misstatements(result: Result, end: float) -> list[Violation]:
    """Return what the result states wrongly about its own schedule."""
    found = []
    tolerance = 1e-9 * end
    if result.makespan is None or not abs(result.makespan - end) <= tolerance:
        found.append(
            Violation(
                rule="makespan",
                message=f"the stated makespan is {result.makespan!r}, the schedule ends at {end!r}",
                times=(end,),
                excess=abs((result.makespan or 0.0) - end),
            )
        )
    bound = result.lower_bound
    if bound is not None and not bound <= end + tolerance:
        found.append(
            Violation(
                rule="lower-bound",
                message=f"the stated lower bound {bound!r} is above the makespan {end!r}",
                times=(end,),
                excess=bound - end,
            )
        )
    return found
