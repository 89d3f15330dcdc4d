"""The binary, pipelined."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.reduction.needs import FREE_ORDER, GIVEN_COUNT, ONE_WAY, OPEN_PLAN
from makespan.reduction.problem import Reduction
from makespan.reduction.rules import classical


@register(
    "reduction",
    name="binary",
    needs=(ONE_WAY, GIVEN_COUNT, OPEN_PLAN, FREE_ORDER),
    complexity="O(n m log n)",
    source="classical",
)
def binary(problem: Reduction, control: Control) -> Solution:
    """Send every segment up a balanced binary tree."""
    return classical.pipelined(problem, classical.binary, control)
