"""One round with results that return: first in first out, last in first out, and orders given or
searched.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from makespan.backends.answer import WITHIN, Verdict
from makespan.backends.repeated import Unsolved
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
    ANY_LOAD,
    as_optimal,
    by_the_deadline,
    linear_plan,
    log_service_order,
    of_open_load,
    with_returns,
)
from makespan.divisible.one_round.subsets import solve_latencies
from makespan.divisible.problem import MASTER, DivisibleLoad
from makespan.divisible.returns.decisions import Orders, Terms, orders_of, plan_of
from makespan.divisible.returns.order_bound import OrderBound
from makespan.divisible.returns.order_programme import claim_sparse, solve_sparse
from makespan.divisible.returns.order_search import PROVED, BestOrders, OrderSearch, Rule
from makespan.divisible.returns.transfers import solve_transfers
from makespan.divisible.timing import timed

DENSE = 80  # workers; above, programmes are sparse and orders are not searched
EXACT_PAIRS = 6  # workers; above, the proof is given up after so many programmes
EXACT_ORDERS = 8  # the same where one order is open
PROGRAMMES_ABOVE = 20_000
NEIGHBOURS = 20_000
NEIGHBOURS_IN_PASSING = 1_000
PROGRAMMES_IN_PASSING = 2_000
BOUNDING, BEHIND = 0.4, 0.85
"""Of the time: for the bound of all orders, where they are too many; for the methods behind."""


def solve_orders(
    problem: DivisibleLoad, control: Control, *, discipline: str | None = None
) -> Solution:
    """Return the best one-round plan with returns, among those of a discipline if one is named.

    Where the problem leaves the discipline open that a method names, the plan is one of many
    kinds: it is then sought with less effort, and nothing is proved.
    """
    of_class = discipline is not None and not keeps_discipline(problem, discipline)
    simple = without_choice(problem)
    if simple is not None:
        return simple
    claim_sparse(len(problem.star))
    terms = Terms.of(problem)
    rule = Rule.of(problem, terms, discipline)
    starts = list(_starts(problem, terms, rule, control))
    if len(terms) > DENSE:
        best, _ = best_of(terms, starts, control)
    else:
        best = _searched(terms, rule, starts, control, in_passing=of_class)
    return solution_of(problem, terms, best, of_class=of_class)


def keeps_discipline(problem: DivisibleLoad, discipline: str) -> bool:
    """Whether all plans of a problem have a discipline: it is asked for, or one returns at most."""
    return problem.discipline == discipline or int(problem.star.returns.sum()) <= 1


def without_choice(problem: DivisibleLoad) -> Solution | None:
    """Return the solution where there is nothing to plan; None elsewhere."""
    star = problem.star
    if problem.load == 0.0 and problem.use == "any":
        return Solution(schedule=timed(problem, Plan.of([], [])), optimal=True)
    if problem.load is not None:
        return None
    terms = Terms.of(problem)
    free = np.isinf(terms.most(terms.end)) & (terms.start_up <= terms.end)
    own = terms.own is not None and terms.own.per_unit == 0 and terms.own.fixed <= terms.end
    if own or (len(star) and free.any()):
        return Solution(schedule=None, notes=(ANY_LOAD,))
    return None


def _starts(problem: DivisibleLoad, terms: Terms, rule: Rule, control: Control) -> Iterable[Orders]:
    """Yield orders to start from: sorted ones, the best worker alone, an earlier plan's."""
    own = terms.own_choices()[0]
    send, back = terms.send, terms.back
    upwards = np.argsort(send, kind="stable").tolist()
    nested = np.argsort(send + back, kind="stable").tolist()
    yield rule.arranged(upwards, upwards, own)
    yield rule.arranged(nested, nested[::-1], own)
    yield rule.arranged(upwards, np.argsort(-back, kind="stable").tolist(), own)
    yield rule.arranged(upwards[::-1], upwards[::-1], own)
    if terms.optional.any() and terms.load is not None:
        alone = terms.start_up + terms.total * terms.load
        alone[terms.memory < terms.load] = np.inf
        first = int(alone.argmin())
        yield rule.arranged([first], [first], own)
    known = control.incumbent
    if known is not None and known.schedule is not None:
        orders = orders_of(problem, known.schedule)
        if orders is not None:
            yield rule.arranged(orders.send, orders.back, orders.own and own)


def _searched(
    terms: Terms, rule: Rule, starts: list[Orders], control: Control, *, in_passing: bool
) -> BestOrders:
    search = OrderSearch(terms, rule, control)
    if terms.everyone:
        whole = range(len(terms))
        starts = [each for each in starts if len(each.send) == len(whole)]
    left = control.remaining or 0.0
    try:
        with control.reserving((BEHIND if in_passing else BOUNDING) * left):
            _sought(search, rule, starts, in_passing=in_passing)
    except Unsolved:  # what is known by then is still true, and nothing is proved
        search.best = replace(search.best, bound=-np.inf)
    if in_passing or search.best.proved:
        return search.best
    relaxed = OrderBound(terms, control).bound(search.best.value)
    return replace(search.best, bound=max(search.best.bound, relaxed - PROVED * abs(relaxed)))


def _sought(search: OrderSearch, rule: Rule, starts: list[Orders], *, in_passing: bool) -> None:
    """Local search from the best starts, then the proof."""
    terms = search.terms
    values = [search.evaluate(orders) for orders in starts]
    ranked = sorted(range(len(starts)), key=values.__getitem__)
    exact = len(terms) <= (EXACT_ORDERS if rule.fixes_one else EXACT_PAIRS) or rule.fixes_all
    for index in ranked[:1] if exact or in_passing else ranked:
        search.improve(starts[index], NEIGHBOURS_IN_PASSING if in_passing else NEIGHBOURS)
    search.tighten()
    if in_passing:
        search.prove(PROGRAMMES_IN_PASSING)
    else:
        search.prove(10**12 if exact else PROGRAMMES_ABOVE)


def best_of(terms: Terms, starts: Iterable[Orders], control: Control) -> tuple[BestOrders, bool]:
    """Return the best of some orders, without those who get nothing, and whether that is proved."""
    best, solved, left = BestOrders(), True, list(dict.fromkeys(starts))
    for place, orders in enumerate(left, 1):
        answer, amount, own = solve_sparse(terms, orders, control)
        if answer.verdict is Verdict.OPTIMAL and answer.value < best.value:
            best = BestOrders(value=answer.value, orders=orders, amount=amount, own=own)
        solved &= answer.verdict in (Verdict.OPTIMAL, Verdict.INFEASIBLE)
        if control.expired():
            return best, solved and place == len(left)
    return best, solved


def solution_of(
    problem: DivisibleLoad, terms: Terms, best: BestOrders, *, of_class: bool = False
) -> Solution:
    """Return the solution with the best orders, and what is proved of it.

    ``of_class`` says that only plans of a kind were compared: then nothing is.
    """
    proved = best.proved and not of_class
    stopped = not best.proved and best.bound > -np.inf
    if np.isinf(best.value):
        if proved:
            return Solution(schedule=None, infeasible=_why_infeasible(problem))
        return Solution(schedule=None, stopped=stopped)
    amount, own = _fitting(problem, terms, best)
    plan = plan_of(problem, best.orders, amount, own)
    if problem.load is None:
        bound = np.inf if of_class else -best.bound * terms.unit
        plan, schedule = by_the_deadline(problem, plan)
        optimal = proved and plan.total >= bound * (1 - WITHIN)
        return of_open_load(schedule, plan.total, bound, proved=optimal)
    schedule = timed(problem, plan)
    if proved and schedule.makespan <= best.value * terms.second * (1 + WITHIN):
        return Solution(schedule=schedule, optimal=True)
    safe = min(best.bound * terms.second * (1 - PROVED), schedule.makespan)
    least = None if of_class or best.bound <= 0 else safe
    return Solution(schedule=schedule, lower_bound=least, stopped=stopped)


def _fitting(problem: DivisibleLoad, terms: Terms, best: BestOrders) -> tuple[Floats, float]:
    """Return the amounts in units of the problem; they add up to its load."""
    amount, own = best.amount * terms.unit, best.own * terms.unit
    total = float(amount.sum()) + own
    if problem.load is None or total == 0.0:
        return amount, own
    factor = problem.load / total  # 1 but for rounding
    return np.minimum(amount * factor, problem.star.memory), own * factor


def _why_infeasible(problem: DivisibleLoad) -> str:
    if problem.load is not None and np.isfinite(problem.star.memory).any():
        return "the machines' memory is less than the load"
    if problem.load is not None:
        return "there is a load, but no machine to compute it"
    return f"not all workers can take part by the deadline {problem.deadline:.12g}"


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


def _workers_searched(problem: DivisibleLoad) -> int:
    return 0 if _is_plain(problem) and not problem.has_latencies else len(problem.star)


@register(
    needs=(*RETURNS_ONE_ROUND, _another_order("lifo")),
    reach=(at_most(MAX_SEARCHED, number=_workers_searched, otherwise="a plain star, or "),),
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
