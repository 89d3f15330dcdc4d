"""Time and energy together: the best of one among the best of the other, and the front."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from makespan.core.control import Control
from makespan.core.schedule import Integers
from makespan.partition.choices import Choices
from makespan.partition.least_sum import LeastSum, least_sum
from makespan.partition.search import least_feasible
from makespan.partition.sums import Expired, Sums

SAME = 1e-12
"""Sums of energies that differ by less than this share are the same but for rounding."""


def time_of(choices: Choices, entries: Integers) -> int:
    """Return the makespan of a plan, as a bit pattern."""
    return int(choices.bits[entries].max())


def time_then_energy(
    choices: Choices, sums: Sums, tasks: int, cap: int, control: Control
) -> LeastSum | None:
    """Return the plan with the least energy among those with the least makespan."""
    assert choices.table.energies is not None
    ends = least_feasible(sums, tasks, cap, control)
    if ends is None:
        return None
    return least_sum(choices, choices.table.energies, ends.limit, tasks, control)


def energy_then_time(
    choices: Choices, sums: Sums, tasks: int, cap: int, control: Control
) -> LeastSum | None:
    """Return the plan with the least makespan among those with the least energy.

    The least energy grows as the time shrinks: its value at ``cap`` is sought at lower times by
    bisection over the times that occur.
    """
    energies = choices.table.energies
    assert energies is not None
    best = least_sum(choices, energies, cap, tasks, control)
    fastest = least_feasible(sums, tasks, cap, control)
    if best is None or fastest is None:
        return None
    least = best.value * (1 + SAME)
    high, low = time_of(choices, best.entries), fastest.limit
    times = _times_between(choices, low, high)
    first, last = 0, len(times)  # the answer's time is times[first:last] or ``high``
    while first < last and best.proved and not control.expired():
        middle = (first + last) // 2
        try:
            found = least_sum(choices, energies, int(times[middle]), tasks, control)
        except Expired:
            break
        if found is not None and found.value <= least:
            best = found
            last = int(np.searchsorted(times, time_of(choices, found.entries)))
        else:
            first = middle + 1
    return best


def _times_between(choices: Choices, low: int, high: int) -> Integers:
    """Return the distinct times from ``low`` to below ``high`` that occur, sorted."""
    inside = (choices.bits >= low) & (choices.bits < high)
    return np.unique(choices.bits[inside])


def front(
    choices: Choices, tasks: int, cap: int, control: Control
) -> Iterator[tuple[int, LeastSum]]:
    """Yield the plans of the Pareto front with their makespans in bits, the slowest first.

    The least energy under a limit on the time is found, then the limit is set below the time
    of the plan found (the method of ε-constraints). A plan is yielded when the next has more
    energy, so that of plans with equal energy only the fastest is.
    """
    energies = choices.table.energies
    assert energies is not None
    kept: tuple[int, LeastSum] | None = None
    limit = cap
    while True:
        found = least_sum(choices, energies, limit, tasks, control)
        if found is None:
            break
        time = time_of(choices, found.entries)
        if kept is not None and found.value > kept[1].value * (1 + SAME):
            yield kept
        kept = time, found
        limit = time - 1
        if limit < 0:
            break
    if kept is not None:
        yield kept
