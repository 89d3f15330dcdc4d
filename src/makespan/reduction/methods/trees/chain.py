"""The chain, pipelined."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.reduction.needs import FREE_ORDER, GIVEN_COUNT, ONE_WAY, OPEN_PLAN
from makespan.reduction.problem import Reduction
from makespan.reduction.rules import classical


@register(
    "reduction",
    name="chain",
    needs=(ONE_WAY, GIVEN_COUNT, OPEN_PLAN, FREE_ORDER),
    complexity="O(n m log n)",
    source="a pipeline; classical",
)
def chain(problem: Reduction, control: Control) -> Solution:
    """Send every segment along a chain of all machines."""
    return classical.pipelined(problem, classical.chain, control)
