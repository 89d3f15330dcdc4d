"""One round with results that return: first in first out, last in first out, and orders given or
searched.
"""

from dataclasses import replace

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.numeric.sorting import sorted_by
from makespan.core.registry import Need, register
from makespan.core.schedule import Activity
from makespan.core.solution import Solution
from makespan.divisible.model.plan import Plan
from makespan.divisible.needs import ORDERED_ONE_ROUND, RETURNS_ONE_ROUND, at_most
from makespan.divisible.one_round.layers import MAX_WORKERS
from makespan.divisible.one_round.masters import tries_masters
from makespan.divisible.one_round.plans import (
    as_optimal,
    linear_plan,
    log_service_order,
    with_returns,
)
from makespan.divisible.one_round.subsets import solve_latencies
from makespan.divisible.problem import MASTER, DivisibleLoad
from makespan.divisible.returns.decisions import Terms
from makespan.divisible.returns.order_programme import claim_sparse
from makespan.divisible.returns.order_search import Rule
from makespan.divisible.returns.plans import (
    best_of,
    keeps_discipline,
    solution_of,
    solve_orders,
    without_choice,
)
from makespan.divisible.returns.transfers import solve_transfers
from makespan.divisible.timing import timed

MAX_SEARCHED = 2_000


def _another_order(discipline: str) -> Need:
    """Need that nothing but ``discipline`` is asked of the returns."""

    def unmet(problem: DivisibleLoad) -> str | None:
        if problem.return_order is not None:
            return "return_order is given"
        if problem.discipline not in (None, discipline):
            return f"discipline is {problem.discipline!r}"
        return None

    return Need(f"{discipline} returns", unmet)


@register(
    needs=(*RETURNS_ONE_ROUND, _another_order("fifo")),
    reach=(at_most(MAX_SEARCHED),),
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
    best, solved = best_of(terms, [orders], control)
    best = replace(best, bound=best.value if solved else best.bound)
    found = solution_of(problem, terms, best, of_class=not keeps_discipline(problem, "fifo"))
    return log_service_order(problem, control, found, problem.star.send_per_unit, "send cost")


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


def _searched(problem: DivisibleLoad) -> int:
    return 0 if _is_plain(problem) and not problem.has_latencies else len(problem.star)


@register(
    needs=(*RETURNS_ONE_ROUND, _another_order("lifo")),
    reach=(at_most(MAX_SEARCHED, number=_searched, otherwise="a plain star, or "),),
    proves="where lifo is asked for: a plain star with send costs c + d (theorem)",
    complexity="O(n log n) without fixed costs; exponential with them",
    source="Beaumont, Marchal and Robert 2005",
)
@tries_masters
def lifo(problem: DivisibleLoad, control: Control) -> Solution:
    """Last in, first out: the optimum of the plain star with sends as long as send and return.

    What is sent up to a worker and what returns from it on are then the same chunks. With memory
    limits, or where some return nothing, the orders are searched.
    """
    simple = without_choice(problem)
    if simple is not None:
        return simple
    if not _is_plain(problem):
        return solve_orders(problem, control, discipline="lifo")
    if problem.has_latencies:
        solution = _with_returns(problem, solve_latencies(_plain(problem), control))
    else:
        port = problem.star.send_per_unit + problem.star.return_per_unit
        order = sorted_by(port) if problem.order is None else problem.workers_in(problem.order)
        plan = linear_plan(problem, order, port, keep_all=problem.order is None)
        if isinstance(plan, Plan):
            plan = as_optimal(problem, with_returns(problem, plan, "lifo"))
        solution = log_service_order(problem, control, plan, port, "send and return cost")
    if keeps_discipline(problem, "lifo"):
        return solution
    goal = solution.objective and replace(solution.objective, bound=None)
    return replace(solution, infeasible=None, lower_bound=None, optimal=False, objective=goal)


def _is_plain(problem: DivisibleLoad) -> bool:
    """Whether the plain star states the problem, and has an exact method."""
    star = problem.star
    if np.isfinite(star.memory).any() or not star.returns.all():
        return False
    if problem.use == "all" and (problem.has_latencies or problem.order is not None):
        return False
    if not (star.send_per_unit + star.compute_per_unit + star.return_per_unit).all():
        return False
    return problem.order is not None or not problem.has_latencies or len(star) <= MAX_WORKERS


def _plain(problem: DivisibleLoad) -> DivisibleLoad:
    """Return the problem without returns whose sends last as long as send and return."""
    star = problem.star
    plain = star.changed(
        send_fixed=star.send_fixed + star.return_fixed,
        send_per_unit=star.send_per_unit + star.return_per_unit,
        return_fixed=0.0,
        return_per_unit=0.0,
    )
    return replace(problem, platform=plain, discipline=None, ports=1)


def _with_returns(problem: DivisibleLoad, solution: Solution) -> Solution:
    schedule = solution.schedule
    if schedule is None:
        return solution
    sends, computes = (schedule.rows_of(each) for each in (Activity.SEND, Activity.COMPUTE))
    own = float(schedule.amount[computes[schedule.machine[computes] == MASTER]].sum())
    plan = Plan.of(schedule.peer[sends] - 1, schedule.amount[sends], master=own).without_empty()
    return replace(solution, schedule=timed(problem, with_returns(problem, plan, "lifo")))


def _given(problem: DivisibleLoad) -> str | None:
    if problem.discipline is not None:
        return f"discipline is {problem.discipline!r}"
    if problem.order is not None and problem.return_order is not None:
        return "order and return_order are given"
    return None


@register(
    needs=(*RETURNS_ONE_ROUND, Need("an order that is open", _given)),
    reach=(at_most(MAX_SEARCHED),),
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


@register(
    needs=(
        *ORDERED_ONE_ROUND,
        Need("transfers, or an order of the sends and one of the returns", _open_orders),
    ),
    reach=(
        at_most(
            MAX_SEARCHED,
            number=lambda problem: 0 if problem.transfers is not None else len(problem.platform),
            otherwise="given transfers, or ",
        ),
    ),
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
