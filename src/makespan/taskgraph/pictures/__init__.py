"""Pictures of task graphs: the plan over time, and the graph itself."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from makespan.core.errors import InputError
from makespan.core.numeric.arrays import Integers
from makespan.core.picture import Bars, Drawn, Groups, Links, Mark, Picture, Role, Row
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import FrontValues, front_points
from makespan.drawing.diagram.curves import front_view
from makespan.taskgraph.copies import Copies
from makespan.taskgraph.list_scheduling.assigned import timed
from makespan.taskgraph.pictures.diagrams import graph, platform
from makespan.taskgraph.pictures.groups import charted, groups
from makespan.taskgraph.problem import TaskGraph

MAX_LANES = 4  # lanes of one role on a machine; what overlaps more shares the last
MAX_MARKS = 6  # deadlines up to which each has a mark
COPY = " (copy)"  # what is added to the name of a task where another copy of it ends first


def picture(problem: TaskGraph, schedule: Schedule) -> Picture:
    """Return a row per machine: what it sends, what it executes, what it receives.

    What happens at the same time stands in lanes of its own, up to four of a role; a task on
    several cores stands in as many. Copies of a task are marked, but for the one that ends first.
    Tasks have the colours of their types, or else of their levels.
    """
    schedule = schedule.renamed(problem.machines)
    _refuse_unknown(problem, schedule)
    transfers = np.flatnonzero(schedule.kind == Activity.TRANSFER)
    computes = np.flatnonzero(schedule.kind == Activity.COMPUTE)
    held = np.minimum(problem.dag.cores[schedule.item[computes]], MAX_LANES)
    computes = np.repeat(computes, held)
    kinds = [
        ("send", Role.SEND, transfers, schedule.machine[transfers]),
        ("compute", Role.COMPUTE, computes, schedule.machine[computes]),
        ("receive", Role.RECEIVE, transfers, schedule.peer[transfers]),
    ]
    lanes: list[list[str]] = [[] for _ in problem.machines]
    parts = []
    for word, role, activities, rows in kinds:
        lane = _lanes(schedule, activities, rows)
        base = np.array([len(names) for names in lanes], dtype=np.int64)
        for row in range(len(lanes)):
            used = int(lane[rows == row].max(initial=-1)) + 1
            least = 1 if role is Role.COMPUTE and row < len(problem.network) else 0
            lanes[row] += _numbered(word, max(used, least))
        bars = Bars.of(schedule, activities, row=rows, lane=0, role=role)
        parts.append(replace(bars, lane=base[rows] + lane))
    names = problem.dag.names
    source, target = problem.dag.source, problem.dag.target
    labels = [
        names[item] if kind == Activity.COMPUTE else f"{names[source[item]]}→{names[target[item]]}"
        for kind, item in zip(schedule.kind.tolist(), schedule.item.tolist(), strict=True)
    ]
    for row in _later_copies(problem, schedule):
        labels[row] += COPY
    return Picture(
        rows=tuple(Row(name, tuple(lanes[index])) for index, name in enumerate(problem.machines)),
        bars=Bars.concatenate(parts),
        labels=tuple(labels),
        groups=_of_activities(charted(problem), schedule),
        links=Links(tuple(names), source, target),
        marks=_deadlines(problem),
    )


def _deadlines(problem: TaskGraph) -> tuple[Mark, ...]:
    """Return a mark for each time that is a deadline, where they are few."""
    due = problem.due if problem.deadline is None else np.array([problem.deadline])
    times = np.unique(due[due < np.inf]).tolist()
    if len(times) > MAX_MARKS:
        return ()
    marks = []
    for time in times:
        tasks = np.flatnonzero(due == time).tolist()
        what = problem.dag.names[tasks[0]] if len(tasks) == 1 else f"{len(tasks)} tasks"
        marks.append(Mark(f"{what} due", time, limit=True))
    return tuple(marks)


def grouped(problem: TaskGraph, schedule: Schedule, by: str, details: Mapping[str, Any]) -> Groups:
    """Return the groups of the activities of a plan, as those of its tasks."""
    schedule = schedule.renamed(problem.machines)
    found = groups(problem, schedule, by, details)
    assert found is not None
    return _of_activities(found, schedule)


def alternatives(
    problem: TaskGraph, details: Mapping[str, Any]
) -> list[tuple[FrontValues, Schedule]]:
    """Return the plans of a front, with what each reaches, in the order of their times."""
    found = []
    for values, point in front_points(details, "price"):
        plan = replace(problem, objective="makespan", sequence=point["sequence"], options={})
        found.append((values, timed(plan)))
    return found


def _of_activities(found: Groups, schedule: Schedule) -> Groups:
    """Return the groups of the tasks that activities execute; transfers have none."""
    of = np.full(len(schedule), -1, dtype=np.int64)
    rows = schedule.rows_of(Activity.COMPUTE)
    of[rows] = found.of[schedule.item[rows]]
    return Groups(of, found.names, found.ordered)


def _refuse_unknown(problem: TaskGraph, schedule: Schedule) -> None:
    """Refuse activities of tasks or edges that the graph does not have."""
    dag = problem.dag
    is_task = schedule.kind == Activity.COMPUTE
    count = np.where(is_task, len(dag), len(dag.source))
    wrong = np.flatnonzero((schedule.item < 0) | (schedule.item >= count))
    if len(wrong):
        row = int(wrong[0])
        word = "task" if is_task[row] else "edge"
        raise InputError(
            f"the schedule can't be drawn: activity {row} names {word} {schedule.item[row]}; "
            "there is none"
        )


def _later_copies(problem: TaskGraph, schedule: Schedule) -> list[int]:
    """Return the rows of the copies of tasks of which another one ends first."""
    if not problem.duplication:
        return []
    copies = Copies(problem, schedule)
    later: list[int] = np.delete(copies.row, copies.earliest[copies.earliest >= 0]).tolist()
    return later


def _numbered(word: str, count: int) -> list[str]:
    return [word] if count == 1 else [f"{word} {number + 1}" for number in range(count)]


def _lanes(schedule: Schedule, activities: Integers, rows: Integers) -> Integers:
    """Return the lowest free lane of each activity in its row."""
    order = np.lexsort((activities, schedule.end[activities], schedule.start[activities]))
    lane = np.zeros(len(activities), dtype=np.int64)
    ends: dict[int, list[float]] = {}
    for index in order.tolist():
        row, start = int(rows[index]), float(schedule.start[activities[index]])
        until = ends.setdefault(row, [])
        free = next((each for each, end in enumerate(until) if end <= start), len(until))
        free = min(free, MAX_LANES - 1)
        end = float(schedule.end[activities[index]])
        if free == len(until):
            until.append(end)
        else:
            until[free] = max(until[free], end)
        lane[index] = free
    return lane


VIEWS: Mapping[str, Callable[..., Drawn]] = {
    "graph": graph,
    "platform": platform,
    "front": front_view("price"),
}
