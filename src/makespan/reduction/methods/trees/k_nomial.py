"""The k-nomial tree, pipelined."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.errors import MethodError
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.reduction.needs import FREE_ORDER, GIVEN_COUNT, ONE_WAY, OPEN_PLAN
from makespan.reduction.problem import Reduction
from makespan.reduction.rules import classical


@register(
    "reduction",
    name="k-nomial",
    needs=(ONE_WAY, GIVEN_COUNT, OPEN_PLAN, FREE_ORDER),
    complexity="O(n m log n)",
    source="classical; the binomial tree with digits in base k",
)
def k_nomial(problem: Reduction, control: Control, *, arity: int = 4) -> Solution:
    """Send every segment up a k-nomial tree; ``arity`` is k."""
    if isinstance(arity, bool) or not isinstance(arity, int) or arity < 2:
        raise MethodError(f"arity: {arity!r} is not allowed; it is a whole number from 2")
    return classical.pipelined(
        problem, lambda machines, _: classical.k_nomial(machines, arity), control
    )
