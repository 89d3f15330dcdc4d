"""One round with returns: the orders of sends and returns as given, or searched."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.divisible.needs import ORDERED_ONE_ROUND, RETURNS_ONE_ROUND, at_most
from makespan.divisible.one_round.masters import tries_masters
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns.plans import solve_orders
from makespan.divisible.returns.transfers import solve_transfers


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


def _open_orders(problem: DivisibleLoad) -> str | None:
    if problem.transfers is not None:
        return None
    if not problem.has_returns:
        return "nothing returns"
    if problem.order is None:
        return "order is not given"
    if problem.return_order is None and problem.discipline is None:
        return "neither return_order nor discipline is given"
    return None


def _many(problem: DivisibleLoad) -> str | None:
    return at_most(2_000).unmet(problem) if problem.transfers is None else None


@register(
    "divisible",
    name="return-programme",
    needs=(
        *ORDERED_ONE_ROUND,
        Need("transfers, or an order of the sends and one of the returns", _open_orders),
    ),
    reach=(Need("given transfers, or at most 2,000 workers", _many),),
    proves="duality; branch and bound over who takes part, where that makes a difference",
    complexity="one linear programme; exponential where workers may be left out",
    source="Beaumont, Marchal and Robert 2005",
)
@tries_masters
def return_programme(problem: DivisibleLoad, control: Control) -> Solution:
    """Linear programme for a given sequence on the port, or given orders of sends and returns.

    Workers that are not worth their fixed costs are left out; of given ``transfers`` all are
    made.
    """
    if problem.transfers is not None:
        return solve_transfers(problem, control)
    return solve_orders(problem, control)
