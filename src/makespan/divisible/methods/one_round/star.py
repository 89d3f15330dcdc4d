"""The closed form for linear stars."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible.needs import A_MASTER, LINEAR_ONE_ROUND, NO_GIVEN_ORDER
from makespan.divisible.one_round.linear import solve_linear
from makespan.divisible.one_round.steps import logged
from makespan.divisible.problem import DivisibleLoad


@register(
    "divisible",
    name="star",
    needs=(*LINEAR_ONE_ROUND, A_MASTER, NO_GIVEN_ORDER),
    proves="serve by non-decreasing send cost, finish together (theorem)",
    complexity="O(n log n)",
    source="Benoit 2016, star-shaped platforms, overall theorem",
)
def star(problem: DivisibleLoad, control: Control) -> Solution:
    """Closed form on a star: serve by non-decreasing send cost, all finish together."""
    found = solve_linear(problem, problem.star.by_send_cost, keep_all=True)
    return logged(problem, control, found, problem.star.send_per_unit, "send cost")
