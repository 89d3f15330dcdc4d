"""The optimum of a linear star for a given order of service."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.divisible.needs import A_MASTER, ANY_WORKERS, LINEAR_ONE_ROUND
from makespan.divisible.one_round.linear import solve_linear
from makespan.divisible.problem import DivisibleLoad

AN_ORDER = Need("an order", lambda problem: None if problem.order else "order is not given")


@register(
    "divisible",
    name="fixed-order",
    needs=(*LINEAR_ONE_ROUND, A_MASTER, ANY_WORKERS, AN_ORDER),
    proves="exchange of port time, backwards over the order (equal to the linear programme)",
    complexity="O(n)",
    source="Benoit 2016, star recursion, corrected: workers may be dropped",
)
def fixed_order(problem: DivisibleLoad, control: Control) -> Solution:
    """Optimum for the given order: workers not worth their port time are dropped.

    The others finish together.
    """
    assert problem.order is not None
    return solve_linear(problem, problem.workers_in(problem.order), keep_all=False)
