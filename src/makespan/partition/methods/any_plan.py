"""Some plan, quickly: for problems that are too large for everything else."""

import math

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Objective, Solution
from makespan.partition.least_sum.plan import quick_plan
from makespan.partition.methods.monotone import threshold_of
from makespan.partition.model.curves import Curves
from makespan.partition.plan import NOT_LOOKED_AT
from makespan.partition.problem import Partition
from makespan.partition.timing import timed

NOTHING_PROVED = "this is any feasible plan; no better plan was searched for"


@register(
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
    found = threshold_of(problem, control)
    if isinstance(found, str):
        return Solution(schedule=None)
    least, amounts = found
    if problem.deadline is not None and least.value > problem.deadline:
        return Solution(schedule=None)
    objective = None
    if problem.objective == "total":
        value = math.fsum(problem.costs_of(amounts).tolist())
        objective = Objective(name="total", value=value)
    return Solution(schedule=timed(problem, amounts), notes=notes, objective=objective)
