"""What a picture of independent tasks shows: a row per machine, a bar per task or piece."""

from __future__ import annotations

import numpy as np

from makespan.core.picture import Bars, OnDemand, Picture, Role, Row
from makespan.core.schedule import Schedule
from makespan.drawing.text import percent
from makespan.independent.problem import IndependentTasks

MAX_IDLE = 1000
LANE = "compute"


def picture(problem: IndependentTasks, schedule: Schedule) -> Picture:
    """Return a row for every machine, by index; of very many machines, only for those in use.

    On a bar stands the number of its task; beside a machine, the share of time that it works.
    """
    schedule = schedule.renamed(problem.machines)
    if problem.machine_count <= MAX_IDLE:
        drawn, row = np.arange(problem.machine_count), schedule.machine
    else:
        drawn, row = np.unique(schedule.machine, return_inverse=True)
    busy = np.bincount(row, weights=schedule.end - schedule.start, minlength=len(drawn))
    end = schedule.makespan or 1.0

    def row_at(position: int) -> Row:
        share = float(busy[position]) / end
        note = f"busy {percent(share)}" if share > 0 else "idle"
        return Row(problem.machines[int(drawn[position])], (LANE if share > 0 else "",), note)

    return Picture(
        rows=OnDemand(len(drawn), row_at),
        bars=Bars.of(schedule, np.arange(len(schedule)), row=row, lane=0, role=Role.COMPUTE),
        labels=OnDemand(len(schedule), lambda activity: str(schedule.item[activity])),
    )
