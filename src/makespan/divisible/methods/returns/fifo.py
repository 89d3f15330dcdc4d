"""Results return in the order of sending."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.divisible.needs import RETURNS_ONE_ROUND, at_most
from makespan.divisible.one_round.masters import tries_masters
from makespan.divisible.one_round.steps import logged
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns.decisions import Terms
from makespan.divisible.returns.order_programme import claim_sparse
from makespan.divisible.returns.order_rules import Rule
from makespan.divisible.returns.plans import (
    best_of,
    keeps_discipline,
    solution_of,
    solve_orders,
    without_choice,
)


def another_order(discipline: str) -> Need:
    """Need that nothing but ``discipline`` is asked of the returns."""

    def unmet(problem: DivisibleLoad) -> str | None:
        if problem.return_order is not None:
            return "return_order is given"
        if problem.discipline not in (None, discipline):
            return f"discipline is {problem.discipline!r}"
        return None

    return Need(f"{discipline} returns", unmet)


@register(
    "divisible",
    name="fifo",
    needs=(*RETURNS_ONE_ROUND, another_order("fifo")),
    reach=(at_most(2_000),),
    proves="where fifo is asked for: with d = z c the order by send cost (theorem), else branch "
    "and bound over orders",
    complexity="a linear programme where d = z c; exponential else; above 8 workers the proof is "
    "given up early",
    source="Beaumont, Marchal, Rehn and Robert 2006",
)
@tries_masters
def fifo(problem: DivisibleLoad, control: Control) -> Solution:
    """First in, first out: the best order for both sends and returns.

    With return costs in one proportion z to the send costs, workers are served by non-decreasing
    send cost where z <= 1, else by non-increasing send cost. Other costs have no such order.
    """
    simple = without_choice(problem)
    if simple is not None:
        return simple
    claim_sparse(len(problem.star))
    served = None if problem.order is not None else _best_order(problem)
    if served is None:
        return solve_orders(problem, control, discipline="fifo")
    terms = Terms.of(problem)
    orders = Rule.of(problem, terms, "fifo").arranged(served, served, own=True)
    best = best_of(terms, [orders], control)
    best = replace(best, bound=best.value)
    found = solution_of(problem, terms, best, of_class=not keeps_discipline(problem, "fifo"))
    return logged(problem, control, found, problem.star.send_per_unit, "send cost")


def _best_order(problem: DivisibleLoad) -> list[int] | None:
    """Return the best order of service; None where no order by the costs is known to be it."""
    star = problem.star
    send, back = star.send_per_unit, star.return_per_unit
    if problem.has_latencies or problem.ports != 1 or np.isfinite(star.memory).any():
        return None
    if not star.returns.all():
        return None
    if not send.any():  # in reverse, a plain star with the returns as sends
        return _by(-back)
    if not send.all():
        return None
    ratio = back / send
    if not np.allclose(ratio, ratio[0], rtol=1e-12, atol=0.0):
        return None
    return _by(send if ratio[0] <= 1.0 else -send)


def _by(costs: Floats) -> list[int]:
    order: list[int] = np.argsort(costs, kind="stable").tolist()
    return order
