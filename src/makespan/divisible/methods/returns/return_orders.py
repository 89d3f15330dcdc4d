"""The search over pairs of orders, for one round with returns."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.divisible.needs import RETURNS_ONE_ROUND, at_most
from makespan.divisible.one_round.masters import tries_masters
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns.plans import solve_orders


def _given(problem: DivisibleLoad) -> str | None:
    if problem.discipline is not None:
        return f"discipline is {problem.discipline!r}"
    if problem.order is not None and problem.return_order is not None:
        return "order and return_order are given"
    return None


@register(
    "divisible",
    name="return-orders",
    needs=(*RETURNS_ONE_ROUND, Need("an order that is open", _given)),
    reach=(at_most(2_000),),
    proves="branch and bound over pairs of orders, with the programme of those placed so far",
    complexity="exponential in the workers; above 6 the proof is given up early",
    source="Beaumont, Marchal and Robert 2005 (the programme for given orders); Benoit 2016, "
    "return messages: neither FIFO nor LIFO is optimal",
)
@tries_masters
def return_orders(problem: DivisibleLoad, control: Control) -> Solution:
    """Local search and branch and bound over who is served, and the orders of sends and returns."""
    return solve_orders(problem, control)
