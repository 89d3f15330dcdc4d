"""Least sum of times for any costs: price per task, core, proof."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.partition.least_sum.plan import sum_plan
from makespan.partition.least_sum.search import LeastSum, least_sum
from makespan.partition.model.choices import Choices
from makespan.partition.needs import LEAST_TOTAL, NO_OTHER_PREFERENCE
from makespan.partition.problem import Partition
from makespan.partition.threshold.sums import Sums


@register(
    "partition",
    name="total",
    needs=(LEAST_TOTAL, NO_OTHER_PREFERENCE),
    proves="no entry outside the core can improve the sum (reduced costs), to within rounding",
    complexity="O(table) for the hulls, then O(core x range of sums); O(n T^2) at worst",
    source="after Pisinger 1995; the problem of Pilla 2022 (federated learning)",
)
def total(problem: Partition, control: Control) -> Solution:
    """Least sum of all resources' times, by the deadline if there is one, for any costs."""
    return sum_plan(problem, control, "total", _least_total)


def _least_total(
    choices: Choices, sums: Sums, tasks: int, cap: int, control: Control
) -> LeastSum | None:
    return least_sum(choices, choices.table.values, cap, tasks, control)
