"""The least sum of weights under a limit on the cost: hull, price per task, core with proof.

Each row's lower convex hull gives the linear relaxation: at the price of a task at which the
hulls' corners add up to the tasks, every entry has a reduced cost of 0 or more, and the relaxed
optimum is the sum over the entries of reduced cost 0. A plan whose reduced costs add up to v
is v above the relaxed optimum, so it uses no entry with a reduced cost above v. Hence a dynamic
programme over the entries with a reduced cost up to g (the core) proves what it finds, as soon as
that is at most g. The core grows until it does.

Source: after Pisinger 1995, with an equality in place of the capacity.
"""

from dataclasses import dataclass

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.partition.least_sum.core import solve_core
from makespan.partition.model.allowed_counts import Allowed
from makespan.partition.plan import sum_at
from makespan.partition.threshold.inverse import greatest, least_threshold, lexicographic
from makespan.partition.threshold.search import (
    LARGEST,
    bits_of,
    feasible_within_half_octave,
    value_of,
)
from makespan.partition.threshold.sums import sums_of

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


def relaxation(choices: Allowed, weights: Floats, limit: int, tasks: int) -> Relaxation | None:
    """Return the relaxation over the entries that cost up to ``limit`` (bits), None if empty."""
    found = _priced(choices, weights, limit, tasks)
    return None if found is None else relaxation_at(choices, weights, limit, tasks, *found)


def relaxation_at(
    choices: Allowed, weights: Floats, limit: int, tasks: int, origin: Integers, price: float
) -> Relaxation:
    """Return the relaxation at a ``price`` per task, at which ``origin`` is best in each row."""
    base = sum_at(weights, origin)
    value = base + price * (tasks - int(choices.table.counts_at(origin).sum()))
    noise = ROUNDING * (abs(base) + abs(price) * tasks + abs(value))
    reduced, below = _reduced(choices, weights, limit, origin, price, -noise)
    return Relaxation(value=value, reduced=reduced, noise=noise, supported=below == 0)


def _priced(
    choices: Allowed, weights: Floats, limit: int, tasks: int
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


def _corners(choices: Allowed, weights: Floats, limit: int) -> tuple[Integers, Integers]:
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


def _hull(choices: Allowed, weights: Floats, limit: int, row: int) -> list[int]:
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
    choices: Allowed, weights: Floats, limit: int, origin: Integers, price: float, floor: float
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


def convex_plan(
    choices: Allowed, weights: Floats, limit: int, tasks: int, control: Control
) -> Integers | None:
    """Return the entries with the least sum where the weights are the costs, and convex.

    The tasks that a resource takes one after another add more and more. So the price is the least
    at which the tasks that add no more suffice: a search like that for the least makespan of costs
    that never fall. Tasks that add exactly the price go to the last resources. Returns None where
    there is no plan or no choice, where the time was up, or where the weights are convex only to
    within rounding and that matters: a plan is returned only if at its price no entry of any row
    would be better. Complexity: O(n log T) evaluations of 32 marginal costs, and one pass over the
    table.
    """
    if not choices.all_convex or weights is not choices.table.values:
        return None
    ends = sums_of(choices).ends(limit, None, None)
    if ends is None or not ends.least < tasks <= ends.greatest:
        return None
    none, room = np.zeros_like(ends.first), ends.last - ends.first
    missing = tasks - ends.least

    def marginal(amounts: Integers) -> Floats:
        entries = ends.first[:, None] + amounts
        added: Floats = weights[entries] - weights[np.maximum(entries - 1, ends.first[:, None])]
        return np.where(amounts > 0, added, -np.inf)

    found = least_threshold(marginal, none, room, missing, control)
    if not found.proved:
        return None
    less = greatest(marginal, none, found.counts, float(np.nextafter(found.value, -np.inf)))
    entries = ends.first + lexicographic(less, found.counts, missing)
    relaxed = relaxation_at(choices, weights, limit, tasks, entries, found.value)
    exact = int(choices.table.counts_at(entries).sum()) == tasks
    allowed = bool((choices.bits[entries] <= limit).all())
    return entries if exact and allowed and relaxed.supported else None


LATE = "time or memory ran out before the plan could be proved optimal"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LeastSum:
    """The entries with the least sum, its value, a lower bound, and whether it is proved."""

    entries: Integers
    value: float
    bound: float
    proved: bool


def least_sum(
    choices: Allowed, weights: Floats, limit: int, tasks: int, control: Control
) -> LeastSum | None:
    """Return the plan with the least sum of weights among entries that cost up to ``limit``.

    No row of ``choices`` may be empty; ``weights`` has an entry for each of the table's; ``limit``
    is a bit pattern; ``tasks`` are what the counts add up to. Returns None where no plan exists.
    Raises Expired if the time is up before any plan is found. Complexity: one pass for the hulls,
    one for the reduced costs, and the core: O(core x range of sums), O(n T^2) where all entries
    cost alike. Convex weights need no hulls and no core.
    """
    entries = convex_plan(choices, weights, limit, tasks, control)
    if entries is not None:
        value = sum_at(weights, entries)
        return LeastSum(entries=entries, value=value, bound=value, proved=True)
    relaxed = relaxation(choices, weights, limit, tasks)
    return None if relaxed is None else least_above(choices, weights, relaxed, tasks, control)


def least_above(
    choices: Allowed, weights: Floats, relaxed: Relaxation, tasks: int, control: Control
) -> LeastSum | None:
    """Return the plan with the least sum, given the relaxation."""
    found = least_reduced(choices, relaxed.reduced, tasks, relaxed.noise, np.inf, control)
    if found is None:
        return None
    value = sum_at(weights, found.entries)
    bound = value if found.proved else min(relaxed.value + found.bound, value)
    return LeastSum(entries=found.entries, value=value, bound=bound, proved=found.proved)


def least_reduced(
    choices: Allowed, reduced: Floats, tasks: int, enough: float, most: float, control: Control
) -> LeastSum | None:
    """Return the plan with the least sum of reduced costs; any up to ``enough`` will do.

    Returns None where no plan's sum is at most ``most``, or none was found in time.

    First a plan whose largest reduced cost is nearly least: it bounds the sum from both sides.
    """
    sums = sums_of(choices, reduced.view(np.int64), control)
    bracket = feasible_within_half_octave(sums, tasks, min(bits_of(most), LARGEST), control)
    if bracket is None:
        return None
    entries = sums.trace(bracket[0], tasks)
    assert entries is not None
    least, value = value_of(bracket[1]), sum_at(reduced, entries)
    if value <= enough:
        return LeastSum(entries=entries, value=value, bound=least, proved=True)
    core = solve_core(choices, reduced, tasks, max(least, enough), min(value, most), control)
    if core.entries is None and value > most:
        return None
    if core.entries is None:
        return LeastSum(entries=entries, value=value, bound=core.bound, proved=False)
    value = sum_at(reduced, core.entries)
    return LeastSum(entries=core.entries, value=value, bound=value, proved=True)
