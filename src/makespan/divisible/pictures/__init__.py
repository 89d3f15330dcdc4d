"""What a picture of a divisible load's schedule shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.picture import Curves, Drawn, Mark, OnDemand, Picture, Role
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import FrontValues, front_points
from makespan.divisible.model.plan import computed
from makespan.divisible.model.points import plan_of
from makespan.divisible.pictures.machines import share
from makespan.divisible.pictures.platform import platform
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import matched, timed
from makespan.drawing.diagram.curves import front_curves
from makespan.drawing.gantt.assemble import Lane, assembled, busy_first
from makespan.drawing.text import short

NO_DETAILS: Mapping[str, Any] = {}


def front(
    problem: DivisibleLoad,
    schedule: Schedule | None = None,
    *,
    by: str | None = None,
    details: Mapping[str, Any] = NO_DETAILS,
) -> Curves:
    """Return the front of makespan and price in the details of a result, its plan marked."""
    return front_curves(details, schedule, "price")


def alternatives(
    problem: DivisibleLoad, details: Mapping[str, Any]
) -> list[tuple[FrontValues, Schedule]]:
    """Return the plans of a front, with what each reaches, in the order of their times."""
    found = []
    for values, point in front_points(details, "price"):
        given = problem
        if "holder" in point:
            given = problem.with_master(problem.machines.index(point["holder"]))
        found.append((values, timed(given, *plan_of(given.star.names, point))))
    return found


VIEWS: Mapping[str, Callable[..., Drawn]] = {"platform": platform, "front": front}


def picture(problem: DivisibleLoad, schedule: Schedule) -> Picture:
    """Return a row for the master, or each source, then one for each worker as they are served.

    A chunk is a bar in the master's lane of sends and in its worker's lane of receives; what
    returns, in the worker's lane of sends and in the master's lane of receives; a tree's inner
    nodes have a lane for what they forward. On transfers stands the worker, on computations the
    amount; beside each machine, its load.
    """
    problem, schedule = matched(problem, schedule)
    sends = schedule.rows_of(Activity.SEND)
    returns = schedule.rows_of(Activity.RETURN)
    computes = schedule.rows_of(Activity.COMPUTE)
    holders = list(problem.holders)
    forwards = ~np.isin(schedule.machine[sends], holders)
    lanes = (
        _lane("send", Role.SEND, sends[~forwards], schedule.machine),
        _lane("receive", Role.RECEIVE, sends, schedule.peer),
        _lane("compute", Role.COMPUTE, computes, schedule.machine),
        _lane("forward", Role.SEND, sends[forwards], schedule.machine),
        _lane("send", Role.RETURN, returns, schedule.machine),
        _lane("receive", Role.RETURN, returns, schedule.peer),
    )
    order = busy_first(schedule, by_start=True)
    order = np.concatenate([holders, order[~np.isin(order, holders)]])
    loads = computed(schedule)
    drawn = assembled(
        schedule,
        lanes,
        order,
        note=lambda machine: share(loads, machine),
        labels=OnDemand(len(schedule), lambda row: _label(schedule, row)),
    )
    if problem.deadline is not None and math.isfinite(problem.deadline):
        return drawn.with_marks("", (Mark("deadline", problem.deadline, limit=True),))
    return drawn


def _lane(label: str, role: Role, rows: Integers, machine: Integers) -> Lane:
    rows = rows[machine[rows] >= 0]
    return Lane(label=label, role=role, activities=rows, machine=machine[rows])


def _label(schedule: Schedule, row: int) -> str:
    if schedule.kind[row] == Activity.COMPUTE:
        return short(float(schedule.amount[row]))
    machine = schedule.peer if schedule.kind[row] == Activity.SEND else schedule.machine
    return schedule.machines[int(machine[row])] if machine[row] >= 0 else ""
