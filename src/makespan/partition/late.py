"""A plan where the time was up before the search ended."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.result import Objective, Solution
from makespan.core.schedule import Integers
from makespan.partition.aim import Aim
from makespan.partition.plan import plan, sum_at
from makespan.partition.problem import Partition
from makespan.partition.search import ONE_OCTAVE, value_of
from makespan.partition.sums import Expired, sums_of

GRACE = 1.0
"""Seconds that finding some plan may take after the time is up."""
LATE_PLAN = "the time was up: the best plan found until then"


def late_plan(problem: Partition, aim: Aim | None, expired: Expired) -> Solution:
    """Return the best plan known when the time was up, or another plan that is found quickly.

    The bound of a makespan is the greatest limit known to be infeasible.
    """
    makespan = problem.objective == "makespan"
    bound = value_of(expired.bound) if makespan else None
    entries = None if aim is None else _entries(problem, aim, expired)
    if aim is None or entries is None:
        return Solution(schedule=None, lower_bound=bound)
    objective = None
    if not makespan:
        table = problem.choices.table
        summed = problem.objective == "total" or table.energies is None
        weights = table.values if summed else table.energies
        assert weights is not None
        name = "total" if summed else "energy"
        objective = Objective(name=name, value=sum_at(weights, entries))
    return plan(
        problem,
        entries,
        optimal=False,
        notes=(*aim.notes, LATE_PLAN),
        lower_bound=bound,
        objective=objective,
    )


def _entries(problem: Partition, aim: Aim, expired: Expired) -> Integers | None:
    sums = sums_of(problem.choices, control=Control(time_limit=GRACE))
    if problem.objective == "makespan" and expired.feasible is not None:
        return sums.trace(expired.feasible, aim.tasks)
    try:
        for limit in _limits(sums.largest_least(), aim.cap):
            ends = sums.ends(limit, None, None)
            if ends is not None and ends.contain(aim.tasks) and sums.reach(ends, aim.tasks):
                return sums.trace(ends, aim.tasks)
    except Expired:
        pass
    return None


def _limits(least: int, most: int) -> list[int]:
    """Return limits in growing steps, the last at ``most``."""
    limits, step = [], ONE_OCTAVE
    while least < most:
        limits.append(least)
        least, step = least + step, 2 * step
    return [*limits, most]
