"""schedule → Report."""

from __future__ import annotations

from collections import Counter
from typing import overload

import numpy as np

from makespan.core.inputs.suggest import suggesting
from makespan.core.kind import Kind
from makespan.core.names import Numbered
from makespan.core.numeric.arrays import SHORT, condensed
from makespan.core.problem import Problem
from makespan.core.report import Report, Violation
from makespan.core.schedule import WORDS, Schedule
from makespan.flow.kinds import kind_of
from makespan.flow.result import Result

SHOWN_PER_RULE = 20
COUNTED_PER_RULE = 10_000
FARTHEST = 1e250  # no sum of products of numbers that problems may hold is greater


def referee(kind: Kind, problem: Problem, schedule: Schedule) -> Report:
    """Referee a schedule of a problem of ``kind``."""
    broken = broken_rows(schedule)
    if broken:
        return _report(broken, None)
    foreign = foreign_machines(problem, schedule)
    if foreign:
        return _report(foreign, None)
    return _report(kind.referee.violations(problem, schedule), schedule.makespan)


def broken_rows(schedule: Schedule) -> list[Violation]:
    """Return the rows that are not activities at all: NaN, negative, ending before they start."""
    if _sound(schedule):
        return []
    count = len(schedule.machines)
    tests = (
        ("kind", (schedule.kind < 0) | (schedule.kind >= len(WORDS)), "is of no known kind"),
        (
            "machine",
            (schedule.machine < 0) | (schedule.machine >= count),
            "is on a machine that the schedule does not name",
        ),
        (
            "peer",
            (schedule.peer < -1) | (schedule.peer >= count),
            "has a peer that the schedule does not name",
        ),
        (
            "finite",
            ~((np.abs(schedule.start) <= FARTHEST) & (np.abs(schedule.end) <= FARTHEST)),
            f"has a start or end that is not a finite number up to {FARTHEST:g}",
        ),
        ("start", schedule.start < 0, "starts before time 0"),
        ("duration", schedule.end < schedule.start, "ends before it starts"),
        (
            "amount",
            ~((schedule.amount >= 0) & (schedule.amount <= FARTHEST)),
            f"has an amount that is negative or not a finite number up to {FARTHEST:g}",
        ),
    )
    return [
        Violation(
            rule=rule,
            message=f"activity {row} {what}",
            activities=(row,),
            times=(float(schedule.start[row]), float(schedule.end[row])),
        )
        for rule, wrong, what in tests
        for row in np.flatnonzero(wrong)[:SHOWN_PER_RULE].tolist()
    ]


def _sound(schedule: Schedule) -> bool:
    """Whether the least and greatest entries show that no row is broken; takes no memory."""
    if schedule.parts and len(schedule) >= SHORT:  # whose columns take memory
        return all(map(_sound, schedule.parts))
    if not len(schedule):
        return True

    def within(column: np.ndarray, least: float, most: float) -> bool:  # False where one is NaN
        column = condensed(column)
        return bool(column.min() >= least and column.max() <= most)

    count, start, end = len(schedule.machines), schedule.start, schedule.end
    return (
        within(schedule.kind, 0, len(WORDS) - 1)
        and within(schedule.machine, 0, count - 1)
        and within(schedule.peer, -1, count - 1)
        and within(schedule.amount, 0.0, FARTHEST)
        and within(start, 0.0, FARTHEST)
        and within(end, 0.0, FARTHEST)
        and not (end < start).any()
    )


def foreign_machines(problem: Problem, schedule: Schedule) -> list[Violation]:
    """Return the machines in use that the problem does not have."""
    if schedule.machines == problem.machines:
        return []
    names = problem.machines
    known = names if isinstance(names, Numbered) else frozenset(names)
    used = set(schedule.machine.tolist()) | set(schedule.peer.tolist()) - {-1}
    return [
        Violation(
            rule="machine", message=f"the problem has no machine {schedule.machines[index]!r}"
        )
        for index in sorted(used)
        if schedule.machines[index] not in known
    ]


def _report(violations: object, makespan: float | None) -> Report:
    """Keep the first violations of each rule and count the others."""
    kept: list[Violation] = []
    seen: Counter[str] = Counter()
    for violation in violations:  # type: ignore[attr-defined]
        seen[violation.rule] += 1
        if seen[violation.rule] <= SHOWN_PER_RULE:
            kept.append(violation)
        if seen[violation.rule] >= COUNTED_PER_RULE:
            break
    return Report(violations=tuple(kept), omitted=sum(seen.values()) - len(kept), makespan=makespan)


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
