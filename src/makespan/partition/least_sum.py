"""The least sum of weights under a limit on the cost: hull, price per task, core with proof.

Each row's lower convex hull gives the linear relaxation: at the price of a task at which the
hulls' corners add up to the tasks, every entry has a reduced cost of 0 or more, and the relaxed
optimum is the sum over the entries of reduced cost 0. A plan whose reduced costs add up to v
is v above the relaxed optimum, so it uses no entry with a reduced cost above v. Hence a dynamic
programme over the entries with a reduced cost up to g (the core) proves what it finds, as soon as
that is at most g. The core grows until it does.

Source: after D. Pisinger, A minimal algorithm for the multiple-choice knapsack problem, EJOR 83
(1995), with an equality in place of the capacity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.core.control import Control
from makespan.core.schedule import Floats, Integers
from makespan.partition.choices import Choices
from makespan.partition.core_program import Core, solve_core
from makespan.partition.plan import sum_at
from makespan.partition.search import LARGEST, least_feasible, value_of
from makespan.partition.sums import NO_COUNTS, sums_of

ROUNDING = 1e-15
LATE = "the time was up before it was proved that no sum is less"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeastSum:
    """The entries with the least sum, its value, and a bound no sum is below.

    ``proved`` says whether the sum is least (to within rounding).
    """

    entries: Integers
    value: float
    bound: float
    proved: bool


def least_sum(
    choices: Choices, weights: Floats, limit: int, tasks: int, control: Control
) -> LeastSum | None:
    """Return the plan with the least sum of weights among entries that cost up to ``limit``.

    Parameters
    ----------
    choices
        The table; no row may be empty.
    weights
        What is summed, one entry for each of the table's.
    limit
        The greatest cost allowed, as a bit pattern.
    tasks
        What the counts add up to.

    Returns
    -------
    LeastSum or None
        None where no plan exists.

    Raises
    ------
    Expired
        If the time is up before any plan is found.

    Complexity: one pass for the hulls, one for the reduced costs, and the core:
    O(core x range of sums), O(n T^2) where all entries cost alike.
    """
    relaxed = _relaxation(choices, weights, limit, tasks)
    if relaxed is None:
        return None
    origin, price = relaxed
    reduced = _reduced(choices, weights, limit, origin, price)
    sums = sums_of(choices, reduced.view(np.int64), control)
    ends = least_feasible(sums, tasks, LARGEST, control)
    if ends is None:
        return None
    entries = sums.trace(ends, tasks)
    assert entries is not None
    least = value_of(ends.limit)
    base = sum_at(weights, origin)
    missing = tasks - int(choices.table.counts_at(origin).sum())
    relaxed_value = base + price * missing
    noise = ROUNDING * (abs(base) + abs(price) * tasks + abs(relaxed_value))
    worst = sum_at(reduced, entries)
    bound, proved = relaxed_value + least, worst <= noise
    if not proved:
        core = Core(choices=choices, reduced=reduced, origin=origin, missing=missing)
        found = solve_core(core, max(least, noise), worst, control)
        if found.entries is not None:
            entries, proved = found.entries, True
        else:
            bound = relaxed_value + max(least, found.bound)
    value = sum_at(weights, entries)
    return LeastSum(
        entries=entries, value=value, bound=value if proved else min(bound, value), proved=proved
    )


def _relaxation(
    choices: Choices, weights: Floats, limit: int, tasks: int
) -> tuple[Integers, float] | None:
    """Return the corners at the price at which they add up to the tasks or less, and the price."""
    corners, begin = _corners(choices, weights, limit)
    if (np.diff(begin) == 0).any():
        return None
    counts = choices.table.counts
    base = choices.table.base
    row_of = np.repeat(np.arange(len(choices)), np.diff(begin))
    count = corners + base[row_of] if counts is None else counts[corners]
    missing = tasks - int(count[begin[:-1]].sum())
    edge = np.flatnonzero(row_of[1:] == row_of[:-1]) if len(corners) > 1 else NO_COUNTS
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
        from makespan.partition.sum_kernels import hulls

        corners = np.empty(choices.size, dtype=np.int64)
        begin = np.empty(len(choices) + 1, dtype=np.int64)
        counts = choices.table.counts
        hulls(
            weights,
            weights.view(np.int64),
            choices.bits,
            limit,
            NO_COUNTS if counts is None else counts,
            choices.low,
            choices.high,
            corners,
            begin,
        )
        return corners[: begin[-1]], begin
    found: list[int] = []
    starts = [0]
    for low, high in zip(choices.low.tolist(), choices.high.tolist(), strict=True):
        found += _hull(choices, weights, limit, low, high)
        starts.append(len(found))
    return np.array(found, dtype=np.int64), np.array(starts, dtype=np.int64)


def _hull(choices: Choices, weights: Floats, limit: int, low: int, high: int) -> list[int]:
    """Return the corners of one row's lower hull, by the monotone chain of Andrew (1979)."""
    entries = low + np.flatnonzero(choices.bits[low:high] <= limit)
    counts = choices.table.counts
    count = (entries if counts is None else counts[entries]).tolist()
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
    choices: Choices, weights: Floats, limit: int, origin: Integers, price: float
) -> Floats:
    """Return the reduced cost of every entry, infinite where it is not allowed."""
    counts = choices.table.counts
    if choices.is_large:
        from makespan.partition.sum_kernels import reduce_costs

        reduced = np.empty(len(weights))

        counts = NO_COUNTS if counts is None else counts
        reduce_costs(
            weights,
            choices.bits,
            limit,
            counts,
            choices.low,
            choices.high,
            origin,
            price,
            reduced,
        )
        return reduced
    reduced = np.full(len(weights), np.inf)
    rows = zip(choices.low.tolist(), choices.high.tolist(), origin.tolist(), strict=True)
    for low, high, at in rows:
        places = np.arange(low, high) if counts is None else counts[low:high]
        more = places - (at if counts is None else int(counts[at]))
        costs = np.maximum(0.0, (weights[low:high] - weights[at]) - price * more)
        reduced[low:high] = np.where(choices.bits[low:high] <= limit, costs, np.inf)
    return reduced
