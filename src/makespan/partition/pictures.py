"""What pictures of a partition show: bars, cost curves, and the Pareto front."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from makespan.core.picture import Curves, Line, Mark, OnDemand, Picture, Role
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import FrontValues, front_points
from makespan.drawing.diagram.curves import front_view
from makespan.drawing.gantt.assemble import Lane, assembled
from makespan.drawing.text import percent, short
from makespan.partition.answer import counts_of
from makespan.partition.model.curves import Curves as CostCurves, tabulated
from makespan.partition.problem import Partition
from makespan.partition.timing import timed

CURVES_SHOWN = 12
POINTS_SHOWN = 2000
PLAN_SHOWN = 6


def picture(problem: Partition, schedule: Schedule) -> Picture:
    """Return a row for each resource, as long as its cost, with its tasks on it."""
    schedule = schedule.renamed(problem.machines)
    computes = schedule.rows_of(Activity.COMPUTE)
    counts = counts_of(problem, schedule)

    def said(machine: int) -> str:
        share = percent(float(counts[machine] / (problem.tasks or 1)))
        return f"{short(float(counts[machine]))} ({share})"

    drawn = assembled(
        schedule,
        (
            Lane(
                label="compute",
                role=Role.COMPUTE,
                activities=computes,
                machine=schedule.machine[computes],
            ),
        ),
        np.arange(len(problem.machines)),
        note=said,
        labels=OnDemand(len(schedule), lambda row: short(float(schedule.amount[row]))),
    )
    if problem.deadline is not None and math.isfinite(problem.deadline):
        return drawn.with_marks("", (Mark("deadline", problem.deadline, limit=True),))
    return drawn


def costs(problem: Partition, schedule: Schedule | None = None, **_: Any) -> Curves:
    """Return the cost of every count, and the counts that a plan chose.

    At most 12 resources are drawn, each by at most 2000 of its counts.
    """
    chosen = counts_of(problem, schedule) if schedule is not None else None
    lines = []
    for index in range(min(len(problem.machines), CURVES_SHOWN)):
        counts, seconds = _curve(problem, index)
        dense = len(counts) > 1 and int(counts[-1] - counts[0]) + 1 == len(counts)
        step = max(1, len(counts) // POINTS_SHOWN)
        counts, seconds = counts[::step], np.where(np.isfinite(seconds), seconds, np.nan)[::step]
        place = np.empty(0, dtype=np.int64)
        if chosen is not None:
            place = np.array([int(np.searchsorted(counts, chosen[index]))])
            if place[0] == len(counts) or counts[place[0]] != chosen[index]:
                cost = problem.costs_of(chosen)[index]
                counts = np.insert(counts, place[0], chosen[index])
                seconds = np.insert(seconds, place[0], cost)
        lines.append(
            Line(
                name=problem.machines[index],
                x=counts.astype(np.float64),
                y=seconds,
                look="line" if dense or len(counts) > POINTS_SHOWN // 2 else "points",
                chosen=place,
                given=_bends(counts, seconds),
            )
        )
    hidden = len(problem.machines) - len(lines)
    bent = any(len(line.given) for line in lines)
    return Curves(
        lines=lines,
        across="tasks",
        up="seconds",
        title=f"what counts cost: {problem.tasks:,} tasks on {len(problem.machines):,} resources",
        levels=(("makespan", schedule.makespan),) if schedule is not None else (),
        notes=(
            *(("a dot: a measured count; between them costs are interpolated",) if bent else ()),
            *((f"and {hidden:,} more resources",) if hidden else ()),
        ),
    )


def _bends(counts: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Return where interpolated costs were measured: where their slope changes, and the ends.

    >>> _bends(np.arange(9), np.array([0, 1, 2, 3, 4, 6, 8, 10, 12.0])).tolist()
    [0, 4, 8]
    """
    if len(counts) < 3 or not np.isfinite(seconds).all():
        return np.empty(0, dtype=np.int64)
    slope = np.diff(seconds) / np.diff(counts)
    changes = np.abs(np.diff(slope)) > 1e-6 * np.abs(slope).max(initial=0.0)
    found = np.concatenate([[0], np.flatnonzero(changes) + 1, [len(counts) - 1]])
    few = 2 < len(found) <= max(3, len(counts) // 3)
    return found if few else np.empty(0, dtype=np.int64)


def _curve(problem: Partition, index: int) -> tuple[np.ndarray, np.ndarray]:
    table = problem.costs
    if isinstance(table, CostCurves):
        lower, upper = table.lower[index], min(table.upper[index], problem.tasks)
        counts = np.unique(np.linspace(lower, upper, POINTS_SHOWN).astype(np.int64))
        if upper - lower < POINTS_SHOWN:
            return counts, tabulated(table.functions[index], lower, upper)
        return counts, np.array(
            [tabulated(table.functions[index], at, at)[0] for at in counts.tolist()]
        )
    low, high = problem.choices.low[index], problem.choices.high[index]
    return table.counts_at(np.arange(low, high), index), table.values[low:high]


def alternatives(
    problem: Partition, details: Mapping[str, Any]
) -> list[tuple[FrontValues, Schedule]]:
    """Return the plans of a front, with what each reaches, in the order of their times."""
    found = []
    for values, point in front_points(details, "energy"):
        amounts = np.array([int(point["counts"].get(name, 0)) for name in problem.machines])
        found.append((values, timed(problem, amounts)))
    return found


def _describe_point(point: Mapping[str, Any]) -> str:
    """Return the plan of a point, where few take part."""
    counts = {name: count for name, count in point.get("counts", {}).items() if count}
    plan = ", ".join(f"{name} {short(float(count))}" for name, count in counts.items())
    return f": {plan}" if 0 < len(counts) <= PLAN_SHOWN else ""


front = front_view("energy", _describe_point)
VIEWS = {"costs": costs, "front": front}
