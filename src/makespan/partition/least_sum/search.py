"""The least sum of weights under a limit on the cost: hull, price per task, core with proof.

Each row's lower convex hull gives the linear relaxation: at the price of a task at which the
hulls' corners add up to the tasks, every entry has a reduced cost of 0 or more, and the relaxed
optimum is the sum over the entries of reduced cost 0. A plan whose reduced costs add up to v
is v above the relaxed optimum, so it uses no entry with a reduced cost above v. Hence a dynamic
programme over the entries with a reduced cost up to g (the core) proves what it finds, as soon as
that is at most g. The core grows until it does.

Source: after Pisinger 1995, with an equality in place of the capacity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.partition.least_sum.convex import convex_plan
from makespan.partition.least_sum.core import solve_core
from makespan.partition.least_sum.relaxation import Relaxation, relaxation
from makespan.partition.model.choices import Choices
from makespan.partition.plan import sum_at
from makespan.partition.threshold.search import (
    LARGEST,
    bits_of,
    feasible_within_half_octave,
    value_of,
)
from makespan.partition.threshold.sums import sums_of

LATE = "the time was up, or the memory too small, before it was proved that no sum is less"


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
    O(core x range of sums), O(n T^2) where all entries cost alike. Convex weights need no hulls
    and no core.
    """
    entries = convex_plan(choices, weights, limit, tasks, control)
    if entries is not None:
        value = sum_at(weights, entries)
        return LeastSum(entries=entries, value=value, bound=value, proved=True)
    relaxed = relaxation(choices, weights, limit, tasks)
    return None if relaxed is None else least_above(choices, weights, relaxed, tasks, control)


def least_above(
    choices: Choices, weights: Floats, relaxed: Relaxation, tasks: int, control: Control
) -> LeastSum | None:
    """Return the plan with the least sum, given the relaxation."""
    found = least_reduced(choices, relaxed.reduced, tasks, relaxed.noise, np.inf, control)
    if found is None:
        return None
    value = sum_at(weights, found.entries)
    bound = value if found.proved else min(relaxed.value + found.bound, value)
    return LeastSum(entries=found.entries, value=value, bound=bound, proved=found.proved)


def least_reduced(
    choices: Choices,
    reduced: Floats,
    tasks: int,
    enough: float,
    most: float,
    control: Control,
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
