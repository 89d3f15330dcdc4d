"""One round with returns: from a search over orders to a solution."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from makespan.backends.answer import WITHIN, Verdict
from makespan.backends.repeated import Unsolved
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.solution import Solution
from makespan.divisible.model.plan import Plan
from makespan.divisible.one_round.plans import (
    ANY_LOAD,
    by_the_deadline,
    of_open_load,
    with_deadline,
)
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns.decisions import Orders, Terms, orders_of, plan_of
from makespan.divisible.returns.order_bound import OrderBound
from makespan.divisible.returns.order_programme import claim_sparse, solve_sparse
from makespan.divisible.returns.order_search import PROVED, BestOrders, OrderSearch, Rule
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
        return with_deadline(problem, Solution(schedule=schedule, optimal=True))
    if of_class or best.bound <= 0:
        return with_deadline(problem, Solution(schedule=schedule, stopped=stopped))
    safe = min(best.bound * terms.second * (1 - PROVED), schedule.makespan)
    return with_deadline(problem, Solution(schedule=schedule, lower_bound=safe, stopped=stopped))


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
