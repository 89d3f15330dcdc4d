"""What pictures of a partition show: bars, cost curves, and the Pareto front."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from makespan.core.picture import Mark, OnDemand, Picture, Role
from makespan.core.schedule import Activity, Schedule
from makespan.drawing.gantt.assemble import Lane, assembled
from makespan.drawing.text import percent, short
from makespan.partition.answer import counts_of
from makespan.partition.model.curves import Curves, tabulated
from makespan.partition.problem import Partition

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CURVES_SHOWN = 12
POINTS_SHOWN = 2000


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


def cost_curves(problem: Partition, schedule: Schedule | None = None, *, ax: Axes) -> Axes:
    """Draw the cost of every count, and the counts that a schedule chose, on matplotlib axes.

    At most 12 resources are drawn, each by at most 2000 of its counts.
    """
    chosen = counts_of(problem, schedule) if schedule is not None else None
    for index in range(min(len(problem.machines), CURVES_SHOWN)):
        counts, costs = _curve(problem, index)
        dense = len(counts) > 1 and int(counts[-1] - counts[0]) + 1 == len(counts)
        step = max(1, len(counts) // POINTS_SHOWN)
        style = "-" if dense else "o"
        (line,) = ax.plot(
            counts[::step],
            np.where(np.isfinite(costs), costs, np.nan)[::step],
            style,
            markersize=3,
            linewidth=1,
            label=problem.machines[index],
        )
        if chosen is not None:
            cost = problem.costs_of(chosen)[index]
            ax.plot([chosen[index]], [cost], "o", color=line.get_color(), markersize=7)
    if schedule is not None:
        ax.axhline(schedule.makespan, linestyle="--", linewidth=1, color="0.3")
    ax.set_xlabel("tasks")
    ax.set_ylabel("seconds")
    ax.legend()
    return ax


def _curve(problem: Partition, index: int) -> tuple[np.ndarray, np.ndarray]:
    costs = problem.costs
    if isinstance(costs, Curves):
        lower, upper = costs.lower[index], min(costs.upper[index], problem.tasks)
        counts = np.unique(np.linspace(lower, upper, POINTS_SHOWN).astype(np.int64))
        if upper - lower < POINTS_SHOWN:
            return counts, tabulated(costs.functions[index], lower, upper)
        return counts, np.array(
            [tabulated(costs.functions[index], at, at)[0] for at in counts.tolist()]
        )
    low, high = problem.choices.low[index], problem.choices.high[index]
    return costs.counts_at(np.arange(low, high), index), costs.values[low:high]


def pareto_front(front: Sequence[Mapping[str, Any]], *, ax: Axes) -> Axes:
    """Draw a front, as in the details of ``pareto``, on matplotlib axes."""
    times = [point["time"] for point in front]
    energies = [point["energy"] for point in front]
    ax.step(times, energies, where="post", linewidth=1, color="0.6")
    ax.plot(times, energies, "o", markersize=5)
    ax.set_xlabel("makespan, seconds")
    ax.set_ylabel("energy")
    return ax
