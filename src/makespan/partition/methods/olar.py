"""OLAR: one task after another to the resource that ends first with it."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.partition.least_sum.preference import NOT_LOOKED_AT
from makespan.partition.least_sum.unit_tasks import handed_out
from makespan.partition.needs import (
    EVERY_TASK,
    LEAST_MAKESPAN,
    LEXICOGRAPHIC,
    MONOTONE,
    NO_DEADLINE,
)
from makespan.partition.plan import no_plan, plan_of_counts
from makespan.partition.problem import Partition


@register(
    "partition",
    name="olar",
    needs=(LEAST_MAKESPAN, EVERY_TASK, NO_DEADLINE, LEXICOGRAPHIC, MONOTONE),
    proves="exchange argument for costs that never fall (Pilla 2021, theorem 1)",
    published=True,
    complexity="O(n + T log n)",
    source="Pilla 2021, algorithm 1",
)
def olar(problem: Partition, control: Control) -> Solution:
    """Optimum where costs never fall, by a heap: each task goes where it ends first.

    Among equal ends the first resource is taken, which gives another optimum than the
    lexicographically least.
    """
    amounts = handed_out(problem, lambda now, then: then, control)
    if isinstance(amounts, str):
        return no_plan(amounts)
    if amounts is None:
        return Solution(schedule=None)
    return plan_of_counts(problem, amounts, optimal=True, notes=(NOT_LOOKED_AT,))
