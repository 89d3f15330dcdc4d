"""The linear relaxation of a least sum: lower hulls, the price of a task, reduced costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.partition.model.choices import Choices
from makespan.partition.plan import sum_at

ROUNDING = 1e-15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Relaxation:
    """A sum that no plan is below, and by how much each entry lies above it.

    A plan's sum is ``value`` plus the sum of its ``reduced`` costs, which are 0 or more and
    infinite where an entry is not allowed. Sums of reduced costs up to ``noise`` are rounding.
    ``supported`` says that no entry is further below 0 than that before it is rounded up.
    """

    value: float
    reduced: Floats
    noise: float
    supported: bool


def relaxation(choices: Choices, weights: Floats, limit: int, tasks: int) -> Relaxation | None:
    """Return the relaxation over the entries that cost up to ``limit`` (bits), None if empty.

    Complexity: one pass for the hulls, one for the reduced costs.
    """
    found = _priced(choices, weights, limit, tasks)
    return None if found is None else relaxation_at(choices, weights, limit, tasks, *found)


def relaxation_at(
    choices: Choices, weights: Floats, limit: int, tasks: int, origin: Integers, price: float
) -> Relaxation:
    """Return the relaxation at a ``price`` per task, at which ``origin`` is best in each row."""
    base = sum_at(weights, origin)
    value = base + price * (tasks - int(choices.table.counts_at(origin).sum()))
    noise = ROUNDING * (abs(base) + abs(price) * tasks + abs(value))
    reduced, below = _reduced(choices, weights, limit, origin, price, -noise)
    return Relaxation(value=value, reduced=reduced, noise=noise, supported=below == 0)


def _priced(
    choices: Choices, weights: Floats, limit: int, tasks: int
) -> tuple[Integers, float] | None:
    """Return the corners at the price at which they add up to the tasks or less, and the price."""
    corners, begin = _corners(choices, weights, limit)
    if (np.diff(begin) == 0).any():
        return None
    row_of = np.repeat(np.arange(len(choices)), np.diff(begin))
    count = choices.table.counts_at(corners, row_of)
    missing = tasks - int(count[begin[:-1]].sum())
    edge = np.flatnonzero(row_of[1:] == row_of[:-1])
    width = count[edge + 1] - count[edge]
    if missing < 0 or missing > int(width.sum()):
        return None
    slope = (weights[corners[edge + 1]] - weights[corners[edge]]) / width
    if not len(edge) or missing == 0:
        return corners[begin[:-1]], float(slope.min()) if len(edge) else 0.0
    price = _weighted_select(slope, width, missing)
    taken = np.bincount(row_of[edge[slope < price]], minlength=len(choices))
    return corners[begin[:-1] + taken], price


def _weighted_select(slope: Floats, width: Integers, missing: int) -> float:
    """Return the least slope such that the edges up to it are at least ``missing`` wide.

    Quickselect: expected O(edges).
    """
    while len(slope) > 64:
        pivot = float(np.median(slope[:: max(1, len(slope) // 63)]))
        below = slope < pivot
        narrow = int(width[below].sum())
        if narrow >= missing:
            slope, width = slope[below], width[below]
            continue
        equal = slope == pivot
        upto = narrow + int(width[equal].sum())
        if upto >= missing:
            return pivot
        above = ~(below | equal)
        slope, width, missing = slope[above], width[above], missing - upto
    order = np.argsort(slope, kind="stable")
    reached = np.cumsum(width[order])
    return float(slope[order[int(np.searchsorted(reached, missing))]])


def _corners(choices: Choices, weights: Floats, limit: int) -> tuple[Integers, Integers]:
    """Return the entries at the corners of the rows' lower hulls, and where each row begins."""
    if choices.is_large:
        from makespan.partition.least_sum.kernels import hulls

        corners = np.empty(choices.size, dtype=np.int64)
        begin = np.empty(len(choices) + 1, dtype=np.int64)
        hulls(
            weights, weights.view(np.int64), choices.bits, limit, choices.table.listed,
            choices.low, choices.high, corners, begin,
        )  # fmt: skip
        return corners[: begin[-1]], begin
    found: list[int] = []
    starts = [0]
    for row in range(len(choices)):
        found += _hull(choices, weights, limit, row)
        starts.append(len(found))
    return np.array(found, dtype=np.int64), np.array(starts, dtype=np.int64)


def _hull(choices: Choices, weights: Floats, limit: int, row: int) -> list[int]:
    """Return the corners of one row's lower hull, by the monotone chain of Andrew (1979)."""
    entries = choices.allowed(row, limit)
    count = choices.table.counts_at(entries, row).tolist()
    weight = weights[entries].tolist()
    chain: list[int] = []
    for p in range(len(count)):
        while len(chain) >= 2:
            a, b = chain[-2], chain[-1]
            left, right = count[b] - count[a], count[p] - count[b]
            if (weight[b] - weight[a]) * right < (weight[p] - weight[b]) * left:
                break
            chain.pop()
        chain.append(p)
    found: list[int] = entries[chain].tolist()
    return found


def _reduced(
    choices: Choices, weights: Floats, limit: int, origin: Integers, price: float, floor: float
) -> tuple[Floats, int]:
    """Return the reduced cost of every entry, and how many were below ``floor``."""
    if choices.is_large:
        from makespan.partition.least_sum.kernels import reduce_costs

        reduced = np.empty(len(weights))
        below = reduce_costs(
            weights, choices.bits, limit, choices.table.listed, choices.low, choices.high, origin,
            price, floor, reduced,
        )  # fmt: skip
        return reduced, int(below)
    reduced, number = np.full(len(weights), np.inf), 0
    counts_at = choices.table.counts_at
    rows = zip(choices.low.tolist(), choices.high.tolist(), origin.tolist(), strict=True)
    for row, (low, high, at) in enumerate(rows):
        more = counts_at(np.arange(low, high), row) - counts_at(at, row)
        costs = (weights[low:high] - weights[at]) - price * more
        costs[choices.bits[low:high] > limit] = np.inf
        number += int((costs < floor).sum())
        reduced[low:high] = np.maximum(costs, 0.0)
    return reduced, number
