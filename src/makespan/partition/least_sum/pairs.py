"""Time and energy together: the best of one among the best of the other."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.partition.least_sum.relaxation import relaxation
from makespan.partition.least_sum.search import LeastSum, least_above, least_reduced, least_sum
from makespan.partition.model.choices import Choices
from makespan.partition.plan import sum_at
from makespan.partition.threshold.search import least_feasible
from makespan.partition.threshold.sums import Ends, Expired, Sums

SAME = 1e-12
"""Sums of energies that differ by less than this share are the same but for rounding."""


def time_of(choices: Choices, entries: Integers) -> int:
    """Return the makespan of a plan, as a bit pattern."""
    return int(choices.bits[entries].max())


def time_then_energy(
    choices: Choices, sums: Sums, tasks: int, cap: int, control: Control
) -> LeastSum | None:
    """Return the plan with the least energy among those with the least makespan."""
    ends = least_feasible(sums, tasks, cap, control)
    return None if ends is None else energy_within(choices, sums, ends, tasks, control)


def energy_within(
    choices: Choices, sums: Sums, ends: Ends, tasks: int, control: Control
) -> LeastSum | None:
    """Return the plan with the least energy at the limit of ``ends``; where time is up, any."""
    energies = choices.table.energies
    assert energies is not None
    try:
        return least_sum(choices, energies, ends.limit, tasks, control)
    except Expired:
        entries = sums.trace(ends, tasks)
        assert entries is not None
        return LeastSum(entries=entries, value=sum_at(energies, entries), bound=0.0, proved=False)


def energy_then_time(
    choices: Choices, sums: Sums, tasks: int, cap: int, control: Control
) -> LeastSum | None:
    """Return the plan with the least makespan among those with the least energy.

    The relaxation of the least energy at ``cap`` holds at lower times too: whether a time allows
    the least energy, is decided among the entries whose reduced costs are within that of the
    plan found. Bisection over the times of these entries.
    """
    energies = choices.table.energies
    assert energies is not None
    relaxed = relaxation(choices, energies, cap, tasks)
    best = None if relaxed is None else least_above(choices, energies, relaxed, tasks, control)
    if relaxed is None or best is None or not best.proved:
        return best
    entries, reduced = best.entries, relaxed.reduced
    most = sum_at(reduced, entries) + relaxed.noise + SAME * abs(best.value)
    high = time_of(choices, entries)
    times = np.unique(choices.bits[(reduced <= most) & (choices.bits < high)])
    first, last = 0, len(times)  # the answer's time is times[first:last] or that of the entries
    while first < last:
        middle = (first + last) // 2
        within = np.where(choices.bits <= times[middle], reduced, np.inf)
        found = _reduced_or_none(choices, within, tasks, most, control)
        if found is not None:
            entries = found
            last = int(np.searchsorted(times, time_of(choices, entries)))
        elif control.expired():
            break
        else:
            first = middle + 1
    return LeastSum(
        entries=entries, value=sum_at(energies, entries), bound=best.bound, proved=first >= last
    )


def _reduced_or_none(
    choices: Choices, reduced: Floats, tasks: int, most: float, control: Control
) -> Integers | None:
    try:
        found = least_reduced(choices, reduced, tasks, most, most, control)
    except Expired:
        return None
    return None if found is None else found.entries
