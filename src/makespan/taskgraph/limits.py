"""Limits that plans keep or miss: deadlines of tasks."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Activity, Schedule
from makespan.taskgraph.problem import TaskGraph

ALLOWED = 1e-9
"""How much later than its deadline, relative to it, a task may end: what sums of floats may be off.

The referee allows as much of the makespan, which is more.
"""


def latest_ends(problem: TaskGraph) -> Floats:
    """Return when tasks have to end: their deadlines, with what rounding may add."""
    return problem.dag.deadline * (1 + ALLOWED)


def lateness(problem: TaskGraph, schedule: Schedule) -> Floats:
    """Return by how many seconds each task ends too late, at most 0 for those in time."""
    rows = np.flatnonzero(schedule.kind == Activity.COMPUTE)
    ends = np.full(len(problem.dag), np.inf)
    np.minimum.at(ends, schedule.item[rows], schedule.end[rows])
    return np.asarray(ends - latest_ends(problem))


def worth(problem: TaskGraph, schedule: Schedule) -> tuple[float, float]:
    """Return what plans are compared by: less is better, a plan that is late comes last."""
    late = float(lateness(problem, schedule).max(initial=0.0)) if problem.has_deadlines else 0.0
    return max(0.0, late), schedule.makespan


def missed(problem: TaskGraph, schedule: Schedule) -> str | None:
    """Say which deadline a plan misses most, None if it keeps all."""
    if not problem.has_deadlines:
        return None
    late = lateness(problem, schedule)
    task = int(np.argmax(late))
    if late[task] <= 0.0:
        return None
    name, due = problem.dag.names[task], float(problem.dag.deadline[task])
    return f"{name} ends {late[task]:.6g} s after its deadline {due:.12g}"
