"""MarIn: one task after another to the resource whose cost it raises least."""

from __future__ import annotations

import math

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.result import Objective, Solution
from makespan.partition.needs import (
    CONVEX,
    EVERY_TASK,
    LEAST_TOTAL,
    NO_DEADLINE,
    NO_OTHER_PREFERENCE,
)
from makespan.partition.plan import no_plan, plan_of_counts
from makespan.partition.problem import Partition
from makespan.partition.unit_tasks import handed_out


@register(
    "partition",
    name="marin",
    needs=(LEAST_TOTAL, EVERY_TASK, NO_DEADLINE, NO_OTHER_PREFERENCE, CONVEX),
    proves="exchange argument for marginal costs that never fall, to within rounding",
    published=True,
    complexity="O(n + T log n)",
    source="L. L. Pilla, Scheduling algorithms for federated learning with minimal energy "
    "consumption, arXiv 2209.06210, 2022, MarIn",
)
def marin(problem: Partition, control: Control) -> Solution:
    """Least sum of times where costs never grow more slowly: each task goes where it adds least."""
    amounts = handed_out(problem, lambda now, then: then - now, control)
    if isinstance(amounts, str):
        return no_plan(amounts)
    if amounts is None:
        return Solution(schedule=None)
    value = math.fsum(problem.costs_of(amounts).tolist())
    objective = Objective(name="total", value=value, bound=value)
    return plan_of_counts(problem, amounts, optimal=True, objective=objective)
