"""Decisions → start times: every resource starts at 0."""

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Activity, Schedule
from makespan.partition.problem import Partition


def timed(problem: Partition, amounts: Integers) -> Schedule:
    """Return the schedule of ``amounts[i]`` tasks on resource i from 0; no row for 0 at no cost."""
    costs = problem.costs_of(amounts)
    busy = np.flatnonzero((amounts > 0) | (costs > 0))
    return Schedule.of_columns(
        problem.machines,
        kind=Activity.COMPUTE,
        machine=busy,
        peer=-1,
        item=busy,
        amount=amounts[busy],
        start=0.0,
        end=costs[busy],
    )


def retimed(problem: Partition, schedule: Schedule, factors: Floats | None = None) -> Schedule:
    """Return ``schedule`` with the same counts from 0, each row's duration times its factor."""
    schedule = schedule.renamed(problem.machines)
    amounts = np.zeros(len(problem.machines), dtype=np.int64)
    amounts[schedule.machine] = np.rint(schedule.amount).astype(np.int64)
    duration = problem.costs_of(amounts)[schedule.machine]
    return schedule.timed(
        np.zeros(len(schedule)), duration if factors is None else duration * factors
    )
