"""Some plan, quickly: for problems that are too large for everything else."""

from __future__ import annotations

import math

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Objective, Solution
from makespan.partition.least_sum.late import quick_plan
from makespan.partition.least_sum.preference import NOT_LOOKED_AT
from makespan.partition.methods.monotone import counts_of_curves
from makespan.partition.model.curves import Curves
from makespan.partition.plan import plan_of_counts
from makespan.partition.problem import Partition

NOTHING_PROVED = "some plan: no better one was searched for"


@register(
    "partition",
    name="any-plan",
    complexity="O(table) for each of about ten thresholds; of functions, as monotone",
    source="common practice: the largest step that is not too much, at growing thresholds",
)
def any_plan(problem: Partition, control: Control) -> Solution:
    """Some plan with a low makespan whatever the objective, in little time and memory.

    Where it meets a bound it is optimal, but not the preferred of such plans.
    """
    notes = (
        (NOTHING_PROVED, NOT_LOOKED_AT) if problem.objective == "makespan" else (NOTHING_PROVED,)
    )
    if not isinstance(problem.costs, Curves):
        return quick_plan(problem, None, None, notes)
    found = counts_of_curves(problem, control)
    if not isinstance(found, np.ndarray):
        return Solution(schedule=None)
    objective = None
    if problem.objective == "total":
        value = math.fsum(problem.costs_of(found).tolist())
        objective = Objective(name="total", value=value)
    return plan_of_counts(problem, found, optimal=False, notes=notes, objective=objective)
