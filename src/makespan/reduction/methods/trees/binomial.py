"""The binomial tree, pipelined."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.reduction.needs import FREE_ORDER, GIVEN_COUNT, ONE_WAY, OPEN_PLAN
from makespan.reduction.problem import Reduction
from makespan.reduction.rules import classical


@register(
    "reduction",
    name="binomial",
    needs=(ONE_WAY, GIVEN_COUNT, OPEN_PLAN, FREE_ORDER),
    complexity="O(n m log n)",
    source="classical; what libraries use for short messages",
)
def binomial(problem: Reduction, control: Control) -> Solution:
    """Send every segment up a binomial tree."""
    return classical.pipelined(
        problem, lambda machines, _: classical.k_nomial(machines, 2), control
    )
