"""The referee: what in a schedule breaks the statement of a partition."""

from collections.abc import Iterator

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.report import Violation
from makespan.core.schedule import WORDS, Activity, Schedule
from makespan.partition.problem import Partition

TIME_TOLERANCE = 1e-9
AMOUNT_TOLERANCE = 1e-9


def violations(problem: Partition, schedule: Schedule) -> Iterator[Violation]:
    """Yield everything in ``schedule`` that breaks the statement of ``problem``.

    Every resource computes at most one share, a whole and allowed number of tasks, for as long
    as that count costs; the shares add up to the tasks (to no more, with ``require="most"``);
    nothing ends after the deadline.
    """
    schedule = schedule.renamed(problem.machines)
    yield from _kinds(schedule)
    rows = np.flatnonzero(schedule.kind == Activity.COMPUTE)
    yield from _shared_twice(problem, schedule, rows)
    counts = np.rint(schedule.amount[rows])
    off = np.abs(schedule.amount[rows] - counts)
    for at in np.flatnonzero(off > AMOUNT_TOLERANCE * max(problem.tasks, 1)).tolist():
        yield _violation(
            "whole-tasks",
            f"{_name(problem, schedule, rows[at])} gets {schedule.amount[rows[at]]!r} tasks",
            schedule,
            rows[at],
            float(off[at]),
        )
    yield from _sum(problem, float(schedule.amount[rows].sum()))
    amounts = np.zeros(len(problem.machines), dtype=np.int64)
    counts = np.minimum(counts, problem.tasks + 1.0)  # more than all is refused above
    amounts[schedule.machine[rows]] = counts.astype(np.int64)
    costs = problem.costs_of(amounts)
    yield from _durations(problem, schedule, rows, costs)
    yield from _idle(problem, schedule, rows, amounts, costs)
    yield from _deadline(problem, schedule)


def _kinds(schedule: Schedule) -> Iterator[Violation]:
    for row in np.flatnonzero(schedule.kind != Activity.COMPUTE).tolist():
        yield _violation(
            "kind",
            f"activity {row} is a {WORDS[schedule.kind[row]]}; a partition only computes",
            schedule,
            row,
        )


def _shared_twice(problem: Partition, schedule: Schedule, rows: Integers) -> Iterator[Violation]:
    shares = np.bincount(schedule.machine[rows], minlength=len(problem.machines))
    for machine in np.flatnonzero(shares > 1).tolist():
        involved = rows[schedule.machine[rows] == machine].tolist()
        yield Violation(
            rule="one-share",
            message=f"{problem.machines[machine]!r} has {len(involved)} shares; it has one at most",
            activities=tuple(involved),
            times=tuple(schedule.start[involved].tolist()),
        )


def _sum(problem: Partition, total: float) -> Iterator[Violation]:
    excess = total - problem.tasks
    tolerance = AMOUNT_TOLERANCE * max(problem.tasks, 1)
    if excess > tolerance or (problem.require == "all" and excess < -tolerance):
        yield Violation(
            rule="all-tasks",
            message=f"the shares add up to {total:.12g} of {problem.tasks} tasks",
            excess=abs(excess),
        )


def _durations(
    problem: Partition, schedule: Schedule, rows: Integers, costs: Floats
) -> Iterator[Violation]:
    cost = costs[schedule.machine[rows]]
    took = schedule.end[rows] - schedule.start[rows]
    forbidden = np.isinf(cost)
    tolerance = TIME_TOLERANCE * max(schedule.makespan, 0.0)
    with np.errstate(invalid="ignore"):
        wrong = forbidden | (np.abs(took - cost) > tolerance)
    for at in np.flatnonzero(wrong).tolist():
        row = int(rows[at])
        name, count = _name(problem, schedule, row), f"{schedule.amount[row]:.12g}"
        if forbidden[at]:
            yield _violation("allowed-count", f"{name} may not take {count} tasks", schedule, row)
        else:
            yield _violation(
                "duration",
                f"{name} computes {count} tasks in {float(took[at])!r}; they cost "
                f"{float(cost[at])!r}",
                schedule,
                row,
                float(abs(took[at] - cost[at])),
            )


def _idle(
    problem: Partition, schedule: Schedule, rows: Integers, amounts: Integers, costs: Floats
) -> Iterator[Violation]:
    """Yield resources without a row that must compute, or whose count 0 costs time."""
    absent = np.ones(len(amounts), dtype=bool)
    absent[schedule.machine[rows]] = False
    for machine in np.flatnonzero(absent & (costs > 0)).tolist():
        name = problem.machines[machine]
        if np.isinf(costs[machine]):
            yield Violation(rule="allowed-count", message=f"{name!r} may not take 0 tasks")
        else:
            yield Violation(
                rule="idle-cost",
                message=f"{name!r} has no row, but 0 tasks cost it {float(costs[machine])!r}",
                excess=float(costs[machine]),
            )


def _deadline(problem: Partition, schedule: Schedule) -> Iterator[Violation]:
    if problem.deadline is None:
        return
    late = schedule.end > problem.deadline + TIME_TOLERANCE * schedule.makespan
    for row in np.flatnonzero(late).tolist():
        end = float(schedule.end[row])
        yield _violation(
            "deadline",
            f"{_name(problem, schedule, row)} ends at {end!r}, after {problem.deadline!r}",
            schedule,
            row,
            end - problem.deadline,
        )


def _name(problem: Partition, schedule: Schedule, row: int) -> str:
    return repr(problem.machines[int(schedule.machine[row])])


def _violation(
    rule: str, message: str, schedule: Schedule, row: int, excess: float = 0.0
) -> Violation:
    return Violation(
        rule=rule,
        message=message,
        activities=(int(row),),
        times=(float(schedule.start[row]), float(schedule.end[row])),
        excess=excess,
    )
