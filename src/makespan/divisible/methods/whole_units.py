"""Whole units in one round: the dynamic programme of an order, rounding, moves of single units."""

from dataclasses import replace
from itertools import permutations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import sorted_by
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.divisible import needs
from makespan.divisible.model.plan import Plan
from makespan.divisible.one_round.ending_together import AffineCosts, least_end, plan_of
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.quick import quick_bound
from makespan.divisible.timing import timed

MANY = 300  # machines


def best_units(costs: AffineCosts, order: Integers, units: int) -> tuple[float, Integers]:
    """Return the least makespan for whole units in a given order of service, and the loads.

    ``costs``: the workers' and the master's costs. ``order``: the workers in the order of service;
    some may get nothing.

    Backwards over the order: with ``rest[u]`` the least time, from when the port is free, in which
    the workers after k do u units, ``min over x of C + c x + max(W + w x, rest[u - x])``. The
    master, who needs no port, then takes what is best left to it. The last entry of the loads is
    the master's. Complexity: O(n units^2). Source: Benoit 2016, bus-shaped platforms, the dynamic
    programme of the slide "Recursion and Dynamic Programming", with sends and start-ups.

    >>> costs = AffineCosts(send_fixed=np.zeros(2), send=np.ones(2), compute_fixed=np.zeros(2),
    ...               compute=np.array([2.0, 1.0]))
    >>> end, loads = best_units(costs, np.array([1, 0]), 5)
    >>> end, loads.tolist()
    (8.0, [1, 4, 0])
    """
    counts = np.arange(units + 1)
    rest = np.where(counts == 0, 0.0, np.inf)
    chosen: list[Integers] = []
    for worker in order[::-1].tolist():
        sends = np.where(counts > 0, costs.send_fixed[worker] + costs.send[worker] * counts, 0.0)
        works = costs.compute_fixed[worker] + costs.compute[worker] * counts
        works[0] = 0.0
        best, pick = np.empty(units + 1), np.empty(units + 1, dtype=np.int64)
        for total in range(units + 1):
            ends = sends[: total + 1] + np.maximum(works[: total + 1], rest[total::-1])
            pick[total] = int(ends.argmin())
            best[total] = ends[pick[total]]
        rest = best
        chosen.append(pick)
    loads = np.zeros(len(costs) + 1, dtype=np.int64)
    end, own = float(rest[units]), 0
    if costs.own is not None:
        with_own = np.array([costs.own.of(int(u)) for u in counts])
        both = np.maximum(with_own, rest[::-1])
        own = int(both.argmin())
        end = float(both[own])
    loads[-1] = own
    left = units - own
    for worker, pick in zip(order.tolist(), reversed(chosen), strict=True):
        loads[worker] = pick[left]
        left -= int(pick[left])
    return end, loads


def end_of_units(costs: AffineCosts, order: Integers, loads: Integers) -> float:
    """Return the makespan of whole loads (the last is the master's) served in an order."""
    amount = loads[order]
    used = amount > 0
    sends = np.where(used, costs.send_fixed[order] + costs.send[order] * amount, 0.0)
    works = np.where(used, costs.compute_fixed[order] + costs.compute[order] * amount, 0.0)
    end = float((np.cumsum(sends) + works)[used].max(initial=0.0))
    return max(end, costs.own.of(float(loads[-1])) if costs.own is not None else 0.0)


def rounded(costs: AffineCosts, order: Integers, loads: Floats, units: int) -> Integers:
    """Return whole loads near the given ones: rounded down, then the rest one by one.

    Every unit left goes where the makespan then is least. Complexity: O(n^3), at most n units
    being left; of many machines those that would end first take one each, O(n log n).
    """
    total = loads.sum()  # beside large fixed costs it may be far from the units
    scale = units / total if total > 0 else 1.0
    whole = np.floor(loads * scale + 1e-9).astype(np.int64)
    while whole.sum() > units:
        whole[int(whole.argmax())] -= 1
    able = _able(costs)
    if len(able) > MANY:
        return _shared_out(costs, order, whole, units)
    while whole.sum() < units:
        ends = []
        for place in able:
            whole[place] += 1
            ends.append(end_of_units(costs, order, whole))
            whole[place] -= 1
        whole[able[int(np.argmin(ends))]] += 1
    return whole


def _shared_out(costs: AffineCosts, order: Integers, whole: Integers, units: int) -> Integers:
    """Give the units that are left to those who end first with one more, one to each."""
    whole[order] += (units - int(whole.sum())) // len(order)
    while whole.sum() < units:
        amount = whole[order] + 1
        used = whole[order] > 0
        sends = costs.send_fixed[order] + costs.send[order] * amount
        arrival = np.cumsum(np.where(used, sends, 0.0)) + np.where(used, 0.0, sends)
        ends = arrival + costs.compute_fixed[order] + costs.compute[order] * amount
        first = np.argsort(ends, kind="stable")[: units - int(whole.sum())]
        whole[order[first]] += 1
    return whole


def moved_units(costs: AffineCosts, order: Integers, loads: Integers, passes: int = 20) -> Integers:
    """Return the loads after moving single units between machines while that helps."""
    best, able = loads.copy(), _able(costs)
    value = end_of_units(costs, order, best)
    for _ in range(passes):
        before = value
        for giver in able:
            for taker in able:
                if giver == taker or best[giver] == 0:
                    continue
                best[giver] -= 1
                best[taker] += 1
                end = end_of_units(costs, order, best)
                if end < value * (1 - 1e-12):
                    value = end
                else:
                    best[giver] += 1
                    best[taker] -= 1
        if value >= before:
            break
    return best


def _able(costs: AffineCosts) -> list[int]:
    return [*range(len(costs)), *([len(costs)] if costs.own is not None else [])]


MAX_ORDERED = 5  # workers up to which every order is tried
MAX_WORK = 200_000_000  # steps of the dynamic programme, over all orders
MAX_MOVED = 60  # machines between which single units are moved


@register(
    needs=(
        *needs.OPEN_ONE_ROUND,
        Need("whole units", lambda problem: None if problem.integral else "integral is false"),
        needs.WHOLE_LOAD,
        needs.A_MASTER,
        needs.A_LOAD,
        needs.NO_RETURNS,
        needs.ANY_WORKERS,
        *needs.NO_WINDOWS,
        needs.A_WORKER,
    ),
    reach=(needs.at_most(300),),
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
    units = int(problem.total)
    costs = AffineCosts.of(problem)
    count = len(costs)
    own_time = costs.own is not None and costs.own.per_unit == 0
    exact = problem.order is not None or count <= MAX_ORDERED
    orders = _orders(problem, exact=exact)
    if len(orders) * count * float(units) ** 2 <= MAX_WORK and not own_time:
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
    return Solution(schedule=schedule, lower_bound=bound, optimal=proved, stopped=stopped)


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


OrderAndLoads = tuple[Integers, Integers]


def _by_programme(
    costs: AffineCosts, orders: list[Integers], units: int, control: Control
) -> OrderAndLoads | None:
    best: tuple[float, OrderAndLoads] | None = None
    for order in orders:
        end, loads = best_units(costs, order, units)
        if best is None or end < best[0] * (1 - 1e-12):
            best = end, (order, loads)
        if control.expired():
            break
    return None if best is None else best[1]


def _by_rounding(
    costs: AffineCosts, orders: list[Integers], units: int, control: Control
) -> OrderAndLoads:
    found = [
        _whole(costs, order, units)
        for number, order in enumerate(orders)
        if number == 0 or not control.expired()
    ]
    return min(found, key=lambda each: end_of_units(costs, *each))


def _whole(costs: AffineCosts, order: Integers, units: int) -> OrderAndLoads:
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
