"""What pictures of platforms say of machines and links."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.problem import DivisibleLoad
from makespan.drawing.text import percent, short

COSTS = "at a link: seconds to send x units, ↩ to return the results; in a box: to compute them"
AMOUNTS = "at a link: units sent over it; in a box: units computed, and their share"


def cost(fixed: float, per_unit: float) -> str:
    """Return an affine cost as people write it.

    >>> cost(0.0, 3.0), cost(2.0, 0.5), cost(1.0, 0.0), cost(0.0, 0.0)
    ('3x', '2 + 0.5x', '1', '0')
    """
    parts = [short(fixed)] if fixed or not per_unit else []
    if np.isinf(per_unit):
        return "forwards only"
    if per_unit:
        parts.append(f"{short(per_unit)}x" if per_unit != 1 else "x")
    return " + ".join(parts)


def title(problem: DivisibleLoad, what: str) -> str:
    return what if problem.load is None else f"{what}, {short(problem.load)} units of load"


def sent(schedule: Schedule) -> Floats:
    """Return how much each machine receives."""
    rows = schedule.rows_of(Activity.SEND)
    sent = np.zeros(len(schedule.machines))
    np.add.at(sent, schedule.peer[rows], schedule.amount[rows])
    return sent


def share(loads: Floats, machine: int) -> str:
    if not loads[machine]:
        return ""
    return f"{short(float(loads[machine]))} ({percent(float(loads[machine] / loads.sum()))})"
