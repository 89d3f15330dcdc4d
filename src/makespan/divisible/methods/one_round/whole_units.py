"""Whole units in one round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import sorted_by
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.divisible.model.plan import Plan
from makespan.divisible.needs import (
    A_LOAD,
    A_MASTER,
    A_WORKER,
    ANY_WORKERS,
    NO_RETURNS,
    NO_WINDOWS,
    OPEN_ONE_ROUND,
    WHOLE_LOAD,
    at_most,
)
from makespan.divisible.one_round.ending_together import Costs, least_end, plan_of
from makespan.divisible.one_round.linear import with_deadline
from makespan.divisible.one_round.units import best_units, end_of_units, moved_units, rounded
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.quick import quick_bound
from makespan.divisible.timing import timed

MAX_ORDERED = 5  # workers up to which every order is tried
MAX_WORK = 200_000_000  # steps of the dynamic programme, over all orders
MAX_MOVED = 60  # machines between which single units are moved


def _fractions(problem: DivisibleLoad) -> str | None:
    return None if problem.integral else "integral is false"


@register(
    "divisible",
    name="whole-units",
    needs=(
        *OPEN_ONE_ROUND,
        Need("whole units", _fractions),
        WHOLE_LOAD,
        A_MASTER,
        A_LOAD,
        NO_RETURNS,
        ANY_WORKERS,
        *NO_WINDOWS,
        A_WORKER,
    ),
    reach=(at_most(300),),
    proves="dynamic programme for a given order, or for every order of up to five workers",
    complexity="O(n units^2) an order; O(n^2) a pass where that is too much",
    source="Benoit 2016, bus-shaped platforms, the dynamic programme; order matters for whole "
    "units even on a bus",
)
def whole_units(problem: DivisibleLoad, control: Control) -> Solution:
    """Whole units: dynamic programme for the order, or rounding and moves of single units.

    A given order, and every order of few workers, is solved exactly. Otherwise the loads that are
    best for any amounts are rounded for a few orders, and single units are moved.
    """
    assert problem.load is not None
    units = int(problem.load)
    costs = Costs.of(problem)
    count = len(costs)
    own_time = costs.own is not None and costs.own.per_unit == 0
    exact = problem.order is not None or count <= MAX_ORDERED
    orders = _orders(problem, exact=exact)
    work = len(orders) * count * float(units) ** 2
    if work <= MAX_WORK and not own_time:
        found = _by_programme(costs, orders, units, control)
        proved = exact and found is not None and not control.expired()
    else:
        found, proved = _by_rounding(costs, orders[:MAX_MOVED], units, control), False
    if found is None:
        return Solution(schedule=None)
    order, loads = found
    amounts = loads[order].astype(np.float64)
    schedule = timed(problem, Plan.of(order, amounts, master=float(loads[-1])).without_empty())
    bound = quick_bound(replace(problem, integral=False))
    stopped = exact and not proved
    solution = Solution(schedule=schedule, lower_bound=bound, optimal=proved, stopped=stopped)
    return with_deadline(problem, solution)


def _orders(problem: DivisibleLoad, *, exact: bool) -> list[Integers]:
    star = problem.star
    if problem.order is not None:
        return [problem.workers_in(problem.order)]
    if exact:
        return [np.array(order, dtype=np.int64) for order in permutations(range(len(star)))]
    keys: tuple[Floats, ...] = (
        star.send_per_unit,
        -star.compute_per_unit,
        star.compute_per_unit,
        star.send_fixed + star.send_per_unit,
    )
    return [star.by_send_cost, *(sorted_by(key) for key in keys)]


Found = tuple[Integers, Integers]


def _by_programme(
    costs: Costs, orders: list[Integers], units: int, control: Control
) -> Found | None:
    best: tuple[float, Found] | None = None
    for order in orders:
        end, loads = best_units(costs, order, units)
        if best is None or end < best[0] * (1 - 1e-12):
            best = end, (order, loads)
        if control.expired():
            break
    return None if best is None else best[1]


def _by_rounding(costs: Costs, orders: list[Integers], units: int, control: Control) -> Found:
    found = [_whole(costs, order, units) for order in _while_time(orders, control)]
    return min(found, key=lambda each: end_of_units(costs, *each))


def _while_time(orders: list[Integers], control: Control) -> Iterator[Integers]:
    for number, order in enumerate(orders):
        if number == 0 or not control.expired():
            yield order


def _whole(costs: Costs, order: Integers, units: int) -> Found:
    """Return whole loads near the best amounts for an order."""
    end, used = least_end(costs, order.tolist(), float(units))
    loads = np.zeros(len(costs) + 1)
    if np.isfinite(end) and used:
        plan = plan_of(costs, used, end)
        loads[plan.worker] = plan.amount
        loads[-1] = min(plan.master, float(units))
    whole = rounded(costs, order, loads, units)
    if len(costs) <= MAX_MOVED:
        whole = moved_units(costs, order, whole)
    return order, whole
