"""One round with fixed costs by trying every ordered subset of the workers, in closed form."""

from __future__ import annotations

import itertools
from fractions import Fraction

from makespan.core.costs import Affine

Line = tuple[Fraction, Fraction]


def _lines(costs: list[tuple[Fraction, ...]], order: tuple[int, ...]) -> list[Line] | None:
    """Return (slope, offset) of each load in the common end, None if a cost per unit is 0."""
    left, spent, found = Fraction(1), Fraction(0), []
    for worker in order:
        latency, c, start_up, w = costs[worker]
        if c + w == 0:
            return None
        slope = left / (c + w)
        offset = (spent + latency + start_up) / (c + w)
        found.append((slope, offset))
        left -= c * slope
        spent += latency - c * offset
    return found


def _as_fractions(workers: list[tuple[float, ...]]) -> list[tuple[Fraction, ...]]:
    return [tuple(Fraction(value) for value in worker) for worker in workers]


def least_makespan(
    workers: list[tuple[float, ...]],
    load: float,
    *,
    master: Affine | None = None,
    order: list[int] | None = None,
) -> Fraction | None:
    """Return the optimum over all ordered subsets in which all that take part end together.

    ``workers`` holds (C, c, W, w) of each. With ``order``, only subsets in that order are tried.
    A worker without a cost per unit does the whole load alone. None if nobody can compute.
    """
    total = Fraction(load)
    if total == 0:
        return Fraction(0)
    costs = _as_fractions(workers)
    best: Fraction | None = None
    with_master = [False] if master is None else [False, True]
    for chosen in _ordered_subsets(len(costs), order):
        for also in with_master:
            end = _end(costs, chosen, total, master if also else None)
            if end is not None and (best is None or end < best):
                best = end
    return best


def _ordered_subsets(count: int, order: list[int] | None):
    for size in range(count + 1):
        if order is None:
            yield from itertools.permutations(range(count), size)
        else:
            yield from itertools.combinations(order, size)


def _end(costs, chosen, total, master) -> Fraction | None:
    """Return when these do the load together, None if they can't."""
    lines = _lines(costs, chosen)
    if lines is None:
        alone = len(chosen) == 1 and master is None
        return costs[chosen[0]][0] + costs[chosen[0]][2] if alone else None
    if master is not None:
        fixed, per_unit = Fraction(master.fixed), Fraction(master.per_unit)
        if per_unit == 0:
            return fixed if not chosen else None
        lines.append((1 / per_unit, fixed / per_unit))
    rate = sum(slope for slope, _ in lines)
    if rate == 0:
        return None
    end = (total + sum(offset for _, offset in lines)) / rate
    return end if all(slope * end >= offset for slope, offset in lines) else None


def most_load(
    workers: list[tuple[float, ...]],
    deadline: float,
    *,
    master: Affine | None = None,
    order: list[int] | None = None,
) -> Fraction:
    """Return the most load by the deadline; costs per unit are positive."""
    costs, end = _as_fractions(workers), Fraction(deadline)
    own = Fraction(0)
    if master is not None:
        own = max(own, (end - Fraction(master.fixed)) / Fraction(master.per_unit))
    best = Fraction(0)
    for chosen in _ordered_subsets(len(costs), order):
        loads = [slope * end - offset for slope, offset in _lines(costs, chosen) or []]
        if all(amount >= 0 for amount in loads):
            best = max(best, sum(loads, Fraction(0)))
    return best + own
