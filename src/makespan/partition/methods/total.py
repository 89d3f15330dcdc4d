"""Least sum of times for any costs: price per task, core, proof."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.result import Solution
from makespan.partition.aim import aim_of, explanation
from makespan.partition.least_sum import LATE, least_sum
from makespan.partition.needs import A_TABLE, LEAST_TOTAL, NO_OTHER_PREFERENCE
from makespan.partition.plan import no_plan, plan, total_objective
from makespan.partition.problem import Partition
from makespan.partition.sums import Expired, sums_of


@register(
    "partition",
    name="total",
    needs=(LEAST_TOTAL, A_TABLE, NO_OTHER_PREFERENCE),
    proves="no entry outside the core can improve the sum (reduced costs), to within rounding",
    complexity="O(table) for the hulls, then O(core x range of sums); O(n T^2) at worst",
    source="after D. Pisinger, A minimal algorithm for the multiple-choice knapsack problem, "
    "EJOR 83, 1995; the problem of L. L. Pilla, arXiv 2209.06210, 2022",
)
def total(problem: Partition, control: Control) -> Solution:
    """Least sum of all resources' times, by the deadline if there is one, for any costs."""
    sums = sums_of(problem.choices, control=control)
    weights = problem.choices.table.values
    try:
        aim = aim_of(problem, sums, control)
        if aim.infeasible is not None:
            return no_plan(aim.infeasible)
        found = least_sum(problem.choices, weights, aim.cap, aim.tasks, control)
    except Expired:
        return Solution(schedule=None)
    if found is None:
        return no_plan(explanation(problem, sums, control))
    assert np.all(found.entries >= 0)
    return plan(
        problem,
        found.entries,
        optimal=found.proved,
        notes=aim.notes if found.proved else (*aim.notes, LATE),
        objective=total_objective(found),
    )
