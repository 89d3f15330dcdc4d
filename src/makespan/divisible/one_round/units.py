"""Whole units: the dynamic programme for a given order, rounding, and moves of single units."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.divisible.one_round.ending_together import Costs

MANY = 300  # machines


def best_units(costs: Costs, order: Integers, units: int) -> tuple[float, Integers]:
    """Return the least makespan for whole units in a given order of service, and the loads.

    Parameters
    ----------
    costs
        The workers' and the master's costs.
    order
        The workers in the order of service; some may get nothing.
    units
        The load.

    Backwards over the order: with ``rest[u]`` the least time, from when the port is free, in
    which the workers after k do u units, ``min over x of C + c x + max(W + w x, rest[u - x])``.
    The master, who needs no port, then takes what is best left to it. The last entry of the loads
    is the master's.

    Complexity: O(n units^2). Source: Benoit 2016, bus-shaped platforms, the dynamic programme of
    the slide "Recursion and Dynamic Programming", with sends and start-ups.

    >>> costs = Costs(send_fixed=np.zeros(2), send=np.ones(2), compute_fixed=np.zeros(2),
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


def end_of_units(costs: Costs, order: Integers, loads: Integers) -> float:
    """Return the makespan of whole loads (the last is the master's) served in an order."""
    amount = loads[order]
    used = amount > 0
    sends = np.where(used, costs.send_fixed[order] + costs.send[order] * amount, 0.0)
    works = np.where(used, costs.compute_fixed[order] + costs.compute[order] * amount, 0.0)
    end = float((np.cumsum(sends) + works)[used].max(initial=0.0))
    own = costs.own.of(float(loads[-1])) if costs.own is not None else 0.0
    return max(end, own)


def rounded(costs: Costs, order: Integers, loads: Floats, units: int) -> Integers:
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


def _shared_out(costs: Costs, order: Integers, whole: Integers, units: int) -> Integers:
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


def moved_units(costs: Costs, order: Integers, loads: Integers, passes: int = 20) -> Integers:
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


def _able(costs: Costs) -> list[int]:
    return [*range(len(costs)), *([len(costs)] if costs.own is not None else [])]
