"""The frame of methods that search a table: aim, search, explanation, plan that is late."""

from __future__ import annotations

from collections.abc import Callable

from makespan.core.control import Control
from makespan.core.solution import Solution
from makespan.partition.least_sum.late import late_plan
from makespan.partition.plan import no_plan
from makespan.partition.problem import Partition
from makespan.partition.threshold.aim import Aim, aim_of, explanation
from makespan.partition.threshold.sums import Expired, Sums, sums_of

Search = Callable[[Sums, Aim], Solution | None]
"""From the sums of the table and the aim to a solution; None where there is no plan."""


def aimed_plan(problem: Partition, control: Control, search: Search) -> Solution:
    """Return what ``search`` finds, why there is no plan, or some plan where the time is up."""
    sums = sums_of(problem.choices, control=control)
    aim: Aim | None = None
    try:
        aim = aim_of(problem, sums, control)
        found = None if aim.infeasible is not None else search(sums, aim)
    except Expired as expired:
        return late_plan(problem, aim, expired)
    if found is None:
        return no_plan(aim.infeasible or explanation(problem, sums, control))
    return found
