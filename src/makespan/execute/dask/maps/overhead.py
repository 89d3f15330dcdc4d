"""When a plan ends if waiting for the scheduler is charged once, not for every chunk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.platform import Star

STEPS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The end of a plan, seconds, and the share of the waiting time to charge to each chunk.

    With these shares, by worker, a platform's affine costs give the workers' ends.
    """

    end: float
    shares: dict[str, float]


def waiting(schedule: Schedule, free: Star, full: Star) -> Waiting:
    """Return when a plan really ends.

    A worker's chunks, arrived at ``a_k`` and computed in ``p_k`` seconds each, are done at
    ``max_k (a_k + sum_(j >= k) p_j)``, and what it waits for the scheduler comes on top once.

    Parameters
    ----------
    schedule
        A plan for a star: sends and computations.
    free, full
        The platform with no waiting charged, and with all of it charged to each chunk.
    """
    sends = schedule.rows_of(Activity.SEND)
    arrival = dict(zip(schedule.item[sends].tolist(), schedule.end[sends].tolist(), strict=True))
    computes = schedule.rows_of(Activity.COMPUTE)
    shares: dict[str, float] = {}
    end = 0.0
    for worker, name in enumerate(free.names):
        rows = computes[schedule.machine[computes] == schedule.machines.index(name)]
        if not len(rows):
            continue
        arrived = np.array([arrival[item] for item in schedule.item[rows].tolist()])
        seconds = free.compute_fixed[worker] + free.compute_per_unit[worker] * schedule.amount[rows]
        wait = float(full.compute_fixed[worker] - free.compute_fixed[worker])
        done = _done(arrived, seconds) + wait
        shares[name] = _share(arrived, seconds, wait, done)
        back = schedule.end[_returns_of(schedule, rows)]
        computed = schedule.end[rows]
        end = max(end, done + (float(back.max() - computed.max()) if len(back) else 0.0))
    return Waiting(end=end, shares=shares)


def _done(arrived: Floats, seconds: Floats) -> float:
    left = np.cumsum(seconds[::-1])[::-1]
    return float((arrived + left).max())


def _share(arrived: Floats, seconds: Floats, wait: float, done: float) -> float:
    """Return the share of ``wait`` that, charged to each chunk, ends them at ``done``."""
    if wait <= 0.0:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        if _done(arrived, seconds + middle * wait) < done:
            low = middle
        else:
            high = middle
    return high


def _returns_of(schedule: Schedule, computes: np.ndarray) -> np.ndarray:
    items = schedule.item[computes]
    return np.flatnonzero((schedule.kind == Activity.RETURN) & np.isin(schedule.item, items))
