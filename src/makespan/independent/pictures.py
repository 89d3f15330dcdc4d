"""What a picture of independent tasks shows: a row per machine, a bar per task or piece."""

from __future__ import annotations

import numpy as np

from makespan.core.picture import Bars, Picture, Role, Row
from makespan.core.schedule import Schedule
from makespan.independent.problem import IndependentTasks

IDLE_ROWS = 1000
LANE = "compute"


def picture(problem: IndependentTasks, schedule: Schedule) -> Picture:
    """Return a row for every machine; of very many machines, only for those in use.

    The label of a bar is the number of its task.
    """
    schedule = schedule.renamed(problem.machines)
    if problem.machine_count <= IDLE_ROWS:
        drawn, row = np.arange(problem.machine_count), schedule.machine
    else:
        drawn, row = np.unique(schedule.machine, return_inverse=True)
    activities = np.arange(len(schedule))
    return Picture(
        rows=tuple(Row(problem.machines[index], (LANE,)) for index in drawn.tolist()),
        bars=Bars.of(schedule, activities, row=row, lane=0, role=Role.COMPUTE),
        labels=tuple(map(str, schedule.item.tolist())),
    )
