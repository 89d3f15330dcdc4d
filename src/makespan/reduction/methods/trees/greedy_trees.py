"""The greedy rule for the order of sends, over the best destinations found."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.reduction.needs import A_REDUCTION, GIVEN_COUNT, GREEDY_ORDER, OPEN_PLAN
from makespan.reduction.problem import Reduction
from makespan.reduction.search.destinations import best_destinations


@register(
    "reduction",
    name="greedy-trees",
    needs=(A_REDUCTION, GIVEN_COUNT, GREEDY_ORDER, OPEN_PLAN),
    proves="all destinations, where there are few",
    complexity="O(n m log n) for each destination matrix tried",
    source="array reduction notebook, evaluate; local search over destinations",
)
def greedy_trees(problem: Reduction, control: Control, *, tries: int | None = None) -> Solution:
    """Order the sends by the greedy rule; try all destinations where few, else search."""
    return best_destinations(problem, control, "greedy", tries)
