"""Whole units by trying everything."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations


def shares(units: int, machines: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to give whole units to machines."""
    if machines == 1:
        yield (units,)
        return
    for first in range(units + 1):
        for rest in shares(units - first, machines - 1):
            yield (first, *rest)


def least_of_order(units, order, workers, master=None) -> float:
    """Return the least makespan of an order over all ways to share the units.

    ``workers`` are (C, c, W, w); ``master`` is (W, w).
    """
    best = float("inf")
    for loads in shares(units, len(order) + (master is not None)):
        clock = end = 0.0
        for worker, load in zip(order, loads, strict=False):
            if load:
                latency, send, start_up, compute = workers[worker]
                clock += latency + send * load
                end = max(end, clock + start_up + compute * load)
        if master is not None and loads[-1]:
            end = max(end, master[0] + master[1] * loads[-1])
        best = min(best, end)
    return best


def least(units, workers, master=None) -> float:
    """Return the least makespan over all orders."""
    return min(
        least_of_order(units, order, workers, master) for order in permutations(range(len(workers)))
    )
