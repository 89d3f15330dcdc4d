"""MarIn: one task after another to the resource whose cost it raises least."""

from __future__ import annotations

import math

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import register
from makespan.core.solution import Objective, Solution
from makespan.partition.least_sum.relaxation import relaxation_at
from makespan.partition.least_sum.unit_tasks import handed_out
from makespan.partition.needs import (
    CONVEX,
    EVERY_TASK,
    LEAST_TOTAL,
    NO_DEADLINE,
    NO_OTHER_PREFERENCE,
)
from makespan.partition.plan import no_plan, plan_of_counts
from makespan.partition.problem import Partition
from makespan.partition.threshold.search import LARGEST

NOT_CONVEX = "the costs grow more slowly somewhere by less than rounding, and that matters"


@register(
    "partition",
    name="marin",
    needs=(LEAST_TOTAL, EVERY_TASK, NO_DEADLINE, NO_OTHER_PREFERENCE, CONVEX),
    proves="exchange argument for marginal costs that never fall, to within rounding",
    published=True,
    complexity="O(n + T log n)",
    source="Pilla 2022 (federated learning), MarIn",
)
def marin(problem: Partition, control: Control) -> Solution:
    """Least sum of times where costs never grow more slowly: each task goes where it adds least."""
    amounts = handed_out(problem, lambda now, then: then - now, control)
    if isinstance(amounts, str):
        return no_plan(amounts)
    if amounts is None:
        return Solution(schedule=None)
    value = math.fsum(problem.costs_of(amounts).tolist())
    proved = _is_least(problem, amounts)
    objective = Objective(name="total", value=value, bound=value if proved else None)
    notes = () if proved else (NOT_CONVEX,)
    return plan_of_counts(problem, amounts, optimal=proved, objective=objective, notes=notes)


def _is_least(problem: Partition, amounts: Integers) -> bool:
    """Whether at the price of the last task no count of any resource would be better."""
    choices, weights = problem.choices, problem.choices.table.values
    entries = choices.low + (amounts - choices.least_counts)
    taken = entries[entries > choices.low]
    price = float((weights[taken] - weights[taken - 1]).max(initial=0.0))
    return relaxation_at(choices, weights, LARGEST, problem.tasks, entries, price).supported
