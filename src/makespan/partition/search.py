"""The least limit on the cost at which the tasks can be split: bounds, gallop, exact values."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.partition.sums import Ends, Expired, Sums

ONE_OCTAVE = 1 << 52
"""Adding this to the bit pattern of a positive float doubles it."""
FIRST_STEP = 1 << 32


def bits_of(value: float) -> int:
    """Return the bit pattern of a float that is 0 or more, as an integer of the same order.

    >>> bits_of(0.0), bits_of(2.0) - bits_of(1.0) == 1 << 52
    (0, True)
    """
    return int(np.float64(abs(value)).view(np.int64))


def value_of(bits: int) -> float:
    """Return the float with this bit pattern."""
    return float(np.int64(bits).view(np.float64))


LARGEST = bits_of(float(np.finfo(np.float64).max))


def first_containing(sums: Sums, tasks: int, cap: int) -> Ends | None:
    """Return the ends at the least limit up to ``cap`` between which ``tasks`` lies, or None.

    No plan can be cheaper: this is the lower bound. Bisection on the bit pattern of the limit,
    at most 64 probes of both ends of each row, each inside what the last ones left open.
    """
    least = sums.largest_least()
    if least > cap:
        return None
    infeasible, inside, outside = least - 1, None, None
    limit, step = least, ONE_OCTAVE
    while outside is None:
        ends = sums.ends(limit, inside, None)
        if ends is not None and ends.contain(tasks):
            outside = ends
        elif limit >= cap:
            return None
        else:
            infeasible, inside = limit, ends
            limit, step = min(limit + step, cap), 2 * step
    while outside.limit - infeasible > 1:
        middle = (infeasible + outside.limit) // 2
        ends = sums.ends(middle, inside, outside)
        if ends is not None and ends.contain(tasks):
            outside = ends
        else:
            infeasible, inside = middle, ends or inside
    return outside


def least_feasible(sums: Sums, tasks: int, cap: int, control: Control) -> Ends | None:
    """Return the ends at the least limit up to ``cap`` that lets the tasks be split, or None.

    The lower bound is often feasible. If not, the limit gallops up; then the costs between the
    last infeasible and the first feasible limit are searched: by the median of some of them while
    they are many, over their exact values as soon as they are few.

    Raises
    ------
    Expired
        If the time is up first.
    """
    lower = first_containing(sums, tasks, cap)
    if lower is None or sums.reach(lower, tasks):
        return lower
    infeasible, feasible, step = lower, None, FIRST_STEP
    while feasible is None:
        if infeasible.limit >= cap:
            return None
        ends = _probe(sums, min(infeasible.limit + step, cap), infeasible, None, control)
        if sums.reach(ends, tasks):
            feasible = ends
        else:
            infeasible, step = ends, min(8 * step, max(ONE_OCTAVE, 2 * (ends.limit - lower.limit)))
    costs, all_costs = sums.costs_between(infeasible.limit, feasible, tasks)
    while feasible.limit - infeasible.limit > 1 and len(costs) > (1 if all_costs else 0):
        limit = int(costs[(len(costs) - 1) // 2])
        if limit == feasible.limit:
            limit = (infeasible.limit + feasible.limit) // 2
        ends = _probe(sums, limit, infeasible, feasible, control)
        if sums.reach(ends, tasks):
            feasible = ends
        else:
            infeasible = ends
        if all_costs:
            costs = costs[(costs > infeasible.limit) & (costs <= feasible.limit)]
        else:
            costs, all_costs = sums.costs_between(infeasible.limit, feasible, tasks)
    return feasible


def _probe(
    sums: Sums, limit: int, infeasible: Ends, feasible: Ends | None, control: Control
) -> Ends:
    control.report(None, value_of(infeasible.limit))
    if control.expired():
        raise Expired(infeasible.limit)
    ends = sums.ends(limit, infeasible, feasible)
    assert ends is not None  # a higher limit than one at which no row was empty
    return ends
