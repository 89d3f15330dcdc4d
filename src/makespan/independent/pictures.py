"""What a picture of independent tasks shows: a row per machine, a bar per task or piece."""

from typing import Any

import numpy as np

from makespan.core.picture import Bars, Curves, Groups, Line, OnDemand, Picture, Role, Row
from makespan.core.schedule import Schedule
from makespan.drawing.text import percent, short
from makespan.independent.problem import IndependentTasks

MAX_IDLE = 1000
MOST_BARS = 300  # tasks up to which each has a bar; of more, the durations are a line
MOST_POINTS = 2000
LABELLED = 60
LANE = "compute"


def picture(problem: IndependentTasks, schedule: Schedule) -> Picture:
    """Return a row for every machine, by index; of very many machines, only for those in use.

    On a bar stands its task; beside a machine, the share of time that it works.
    """
    schedule = schedule.renamed(problem.machines)
    if problem.machine_count <= MAX_IDLE:
        drawn, row = np.arange(problem.machine_count), schedule.machine
    else:
        drawn, row = np.unique(schedule.machine, return_inverse=True)
    busy = np.bincount(row, weights=schedule.end - schedule.start, minlength=len(drawn))
    counted = np.bincount(row, minlength=len(drawn))
    end = schedule.makespan or 1.0

    def row_at(position: int) -> Row:
        share = float(busy[position]) / end
        note = f"busy {percent(share)}" if share > 0 else "idle"
        if problem.counts is not None:
            note += f", {counted[position]} tasks"
        return Row(problem.machines[int(drawn[position])], (LANE if share > 0 else "",), note)

    def label_at(activity: int) -> str:
        task = int(schedule.item[activity])
        return problem.tasks[task] if 0 <= task < len(problem.tasks) else f"no task {task}"

    return Picture(
        rows=OnDemand(len(drawn), row_at),
        bars=Bars.of(schedule, np.arange(len(schedule)), row=row, lane=0, role=Role.COMPUTE),
        labels=OnDemand(len(schedule), label_at),
    )


def tasks(problem: IndependentTasks, schedule: Schedule | None = None, **_: Any) -> Curves:
    """Return the durations of the tasks, the longest first, and the mean load of a machine.

    Of a plan, the bars have the colours of their machines.
    """
    least = problem.durations if problem.identical else problem.table.min(axis=1, initial=np.inf)
    order = np.argsort(-least, kind="stable")
    seconds = least[order]
    few = len(order) <= MOST_BARS
    shown = np.unique(np.linspace(0, len(order) - 1, min(len(order), MOST_POINTS)).astype(np.int64))
    groups = None
    levels = [("mean load of a machine", float(seconds.sum()) / problem.machine_count)]
    if schedule is not None:
        levels.append(("makespan", schedule.makespan))
        if few:
            of = np.full(len(order), -1, dtype=np.int64)
            of[schedule.item] = schedule.renamed(problem.machines).machine
            groups = Groups(of[order], problem.machines)
    count = f"{len(order):,} task{'s' if len(order) != 1 else ''}"
    work = f"{short(float(seconds.sum()))} s of work"
    return Curves(
        lines=(
            Line(
                name="tasks",
                x=(shown + 1).astype(np.float64),
                y=seconds[shown],
                look="bars" if few else "steps",
                labels=[problem.tasks[task] for task in order.tolist()]
                if len(order) <= LABELLED
                else (),
            ),
        ),
        across="tasks, the longest first",
        up="seconds" if problem.identical else "seconds where fastest",
        title=f"{count} on {problem.machine_count:,} machines: {work}",
        levels=tuple(levels),
        groups=groups,
    )


VIEWS = {"tasks": tasks}
