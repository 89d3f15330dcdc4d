"""The referee of task graphs: it knows the statement, and nothing of the solvers."""

from collections.abc import Iterator

import numpy as np

from makespan.core.report import Violation, broken
from makespan.core.schedule import Activity, Schedule
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.referee.plan import Copies, Plan


def violations(problem: TaskGraph, schedule: Schedule) -> Iterator[Violation]:
    """Yield every rule that ``schedule`` breaks.

    Rules: ``kind``, ``item``, ``every-task-once``, ``router``, ``amount``, ``duration``,
    ``release``, ``deadline``, ``budget``, ``route``, ``precedence``, ``arrival``, ``blocking``,
    ``cores``, ``link``, ``port``, ``assignment``, ``sequence``; with duplication ``every-task`` and
    ``copy`` instead of ``every-task-once``, and ``input``. Times are compared to within 1e-9 of the
    makespan. Complexity: O(rows log rows), vectorised.
    """
    schedule = schedule.renamed(problem.machines)
    broken = False
    for violation in _unreadable(problem, schedule):
        broken = True
        yield violation
    if not broken:
        judge = Copies if problem.duplication else Plan
        yield from judge(problem, schedule).violations()


def _unreadable(problem: TaskGraph, schedule: Schedule) -> Iterator[Violation]:
    """Yield what makes the rest meaningless: foreign rows, tasks missing or executed twice."""
    computes, transfers = (schedule.kind == Activity.COMPUTE, schedule.kind == Activity.TRANSFER)
    for row in np.flatnonzero(~(computes | transfers)).tolist():
        yield broken("kind", f"activity {row} is neither a computation nor a transfer", (row,))
    limit = np.where(computes, len(problem.dag), len(problem.dag.source))
    wrong = (computes | transfers) & ((schedule.item < 0) | (schedule.item >= limit))
    for row in np.flatnonzero(wrong).tolist():
        what = "task" if computes[row] else "edge"
        text = f"activity {row} names {what} {int(schedule.item[row])}; there is none"
        yield broken("item", text, (row,))
    for row in np.flatnonzero(transfers & (schedule.peer < 0)).tolist():
        yield broken("item", f"transfer {row} names no receiver", (row,))
    routers = computes & (schedule.machine >= len(problem.network))
    for row in np.flatnonzero(routers).tolist():
        name = problem.machines[int(schedule.machine[row])]
        yield broken("router", f"{name} is a router; it executes nothing", (row,))
    count = _copy_counts if problem.duplication else _task_counts
    yield from count(problem, schedule, computes & ~wrong)


def _task_counts(
    problem: TaskGraph, schedule: Schedule, computes: np.ndarray
) -> Iterator[Violation]:
    counts = np.bincount(schedule.item[computes], minlength=len(problem.dag))
    for task in np.flatnonzero(counts != 1).tolist():
        times = "never" if counts[task] == 0 else f"{counts[task]} times"
        text = f"task {problem.dag.names[task]} is executed {times}"
        yield broken(
            "every-task-once", text, np.flatnonzero(computes & (schedule.item == task))[:2]
        )


def _copy_counts(
    problem: TaskGraph, schedule: Schedule, computes: np.ndarray
) -> Iterator[Violation]:
    """Yield tasks without a copy, and those with several on one machine."""
    names = problem.dag.names
    counts = np.bincount(schedule.item[computes], minlength=len(problem.dag))
    for task in np.flatnonzero(counts == 0).tolist():
        yield broken("every-task", f"task {names[task]} is never executed")
    copies = np.flatnonzero(computes)
    copies = copies[np.lexsort((copies, schedule.machine[copies], schedule.item[copies]))]
    item, machine = schedule.item[copies], schedule.machine[copies]
    for index in np.flatnonzero((item[1:] == item[:-1]) & (machine[1:] == machine[:-1])).tolist():
        where = problem.machines[int(machine[index])]
        text = f"task {names[int(item[index])]} is executed more than once on {where}"
        yield broken("copy", text, (copies[index], copies[index + 1]))
