"""The plan of methods that end with a least sum: aim, search, explanation, proof."""

from __future__ import annotations

from collections.abc import Callable

from makespan.core.control import Control
from makespan.core.solution import Objective, Solution
from makespan.partition.least_sum.late import late_plan
from makespan.partition.least_sum.search import LATE, LeastSum
from makespan.partition.model.choices import Choices
from makespan.partition.plan import no_plan, plan
from makespan.partition.problem import Partition
from makespan.partition.threshold.aim import Aim, aim_of, explanation
from makespan.partition.threshold.sums import Expired, Sums, sums_of

Search = Callable[[Choices, Sums, int, int, Control], LeastSum | None]
"""From choices, their sums, tasks, the greatest cost allowed (bits) and the control to a plan."""


def sum_plan(problem: Partition, control: Control, name: str, search: Search) -> Solution:
    """Return the plan that ``search`` finds, with its sum as the objective ``name``."""
    sums = sums_of(problem.choices, control=control)
    aim: Aim | None = None
    try:
        aim = aim_of(problem, sums, control)
        if aim.infeasible is not None:
            return no_plan(aim.infeasible)
        found = search(problem.choices, sums, aim.tasks, aim.cap, control)
    except Expired as expired:
        return late_plan(problem, aim, expired)
    if found is None:
        return no_plan(explanation(problem, sums, control))
    return plan(
        problem,
        found.entries,
        optimal=found.proved,
        notes=aim.notes if found.proved else (*aim.notes, LATE),
        objective=Objective(name=name, value=found.value, bound=found.bound),
    )
