"""A plan for any star in little time: each worker in turn takes what it can."""

from collections.abc import Iterator

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import sorted_by
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.core.system.memory import claim
from makespan.divisible.model.platform import NUMBERS
from makespan.divisible.needs import A_STAR, NO_GIVEN_LOADS, NO_GIVEN_SEQUENCE, ONE_SEND_AT_A_TIME
from makespan.divisible.one_round.filling import Filling, least_end, most_load, plan_of
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.quick import quick_bound
from makespan.divisible.timing import timed

SHARE = 0.25  # of the time left: checking a plan for a million workers takes as long
WHOLE = 1e-9  # how far from a whole number the referee lets an amount be
FASTER = 1e-4  # what another order has to gain to be looked into


@register(
    needs=(A_STAR, ONE_SEND_AT_A_TIME, NO_GIVEN_LOADS, NO_GIVEN_SEQUENCE),
    complexity="O(n) for each end tried, some dozens; O(n log n)",
    source="bisection for the end; each worker fills the time left (Benoit 2016, star recursion) "
    "within its memory, its window and the budget",
)
def greedy(problem: DivisibleLoad, control: Control) -> Solution:
    """One chunk for each worker in turn, as large as its limits and the end allow; a heuristic.

    The end is found by bisection. Workers come by send cost or in the given order; some are left
    out where the workers behind them do more in their time. Results return in the reverse order
    where that is open. Where the master is open, the fastest machine is it.
    """
    if problem.integral and abs((problem.load or 0) - round(problem.load or 0)) > WHOLE:
        why = f"the load, {problem.load!r}, is not a whole number of units"
        return Solution(schedule=None, infeasible=why)
    if problem.chooses_master:
        problem = problem.with_master(int(np.argmin(problem.star.compute_per_unit)))
    claim(16.0 * len(NUMBERS) * len(problem.star), "the columns of the workers")
    limit = problem.latest
    if problem.load is None:
        most = max(_fillings(problem), key=lambda each: each.load_by(limit)[0])
        return most_load(most, limit)
    best: tuple[Filling, float] | None = None
    least = quick_bound(problem)
    with control.sharing(SHARE):
        for filling in _fillings(problem):
            end = limit if best is None else best[1] * (1 - FASTER)
            found = least_end(filling, least, end, control)
            best = best if found is None else (filling, found)
            if best is not None and control.expired():
                break
    if best is None:
        return Solution(schedule=None)
    filling, end = best
    _, amount, own = filling.load_by(end)
    schedule = timed(problem, plan_of(problem, filling.order, amount, own))
    return Solution(schedule=schedule if schedule.makespan <= limit * (1 + 1e-12) else None)


def _fillings(problem: DivisibleLoad) -> Iterator[Filling]:
    for order in _orders(problem):
        filling = Filling.of(problem, order)
        yield filling
        if problem.has_latencies and problem.use == "any":
            yield filling.choosy()


def _orders(problem: DivisibleLoad) -> Iterator[Integers]:
    if problem.order is not None:
        yield problem.workers_in(problem.order)
        return
    yield problem.star.by_send_cost
    yield from (sorted_by(key) for key in _keys(problem))


def _keys(problem: DivisibleLoad) -> Iterator[Floats]:
    """Yield what workers are also sorted by: start-ups, what a usual chunk costs."""
    star = problem.star
    if problem.budget is not None:
        yield star.price_fixed + star.price_per_unit * (problem.load or 0.0) / max(1, len(star))
    if problem.has_latencies:
        yield star.send_fixed + star.compute_fixed
        if problem.use == "all":  # the longest of them have most to wait for (Jackson's rule)
            yield -star.compute_fixed
