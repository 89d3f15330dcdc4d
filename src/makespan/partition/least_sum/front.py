"""The front of time and energy: both ends, then what is between them, the widest gap first.

The least energy within a time is a step function of the time, and its steps are the front. A
search with a limit on the time (an ε-constraint) finds one step: the least energy holds from the
time of the plan found up to the limit at least. Between two steps that are known there may be
others, unless a search with the limit just below the later step gave the energy of the earlier.
"""

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count, pairwise

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.partition.least_sum.search import (
    LeastSum,
    least_above,
    least_reduced,
    least_sum,
    relaxation,
)
from makespan.partition.model.allowed_counts import Allowed
from makespan.partition.plan import sum_at
from makespan.partition.threshold.search import bits_of, least_feasible, value_of
from makespan.partition.threshold.sums import Ends, Expired, Sums

SAME = 1e-12  # sums of energies that differ by less than this share are the same but for rounding


def time_of(choices: Allowed, entries: Integers) -> int:
    """Return the makespan of a plan, as a bit pattern."""
    return int(choices.bits[entries].max())


def time_then_energy(
    choices: Allowed, sums: Sums, tasks: int, cap: int, control: Control
) -> LeastSum | None:
    """Return the plan with the least energy among those with the least makespan."""
    ends = least_feasible(sums, tasks, cap, control)
    return None if ends is None else energy_within(choices, sums, ends, tasks, control)


def energy_within(
    choices: Allowed, sums: Sums, ends: Ends, tasks: int, control: Control
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
    choices: Allowed, sums: Sums, tasks: int, cap: int, control: Control
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
    times = np.unique(choices.bits[(reduced <= most) & (choices.bits < time_of(choices, entries))])
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
    choices: Allowed, reduced: Floats, tasks: int, most: float, control: Control
) -> Integers | None:
    try:
        found = least_reduced(choices, reduced, tasks, most, most, control)
    except Expired:
        return None
    return None if found is None else found.entries


BISECTED_UP_TO = 64  # up to so many points gaps are halved once; else closed from their ends
SHARE_OF_AN_END = 0.4  # what part of the time left the search for an end may take


@dataclass(slots=True, kw_only=True, eq=False)
class Step:
    """The least energy within all times (bits) from ``first`` to ``last``, and the plan of it.

    ``closed``: no plan faster than ``first`` has this energy or less, and the step before ends
    where this one begins. ``proved``: no plan within ``last`` has less energy.
    """

    first: int
    last: int
    energy: float
    entries: Integers
    proved: bool
    closed: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class Front:
    """Its steps, the fastest first, and the ranges of times in which there may be others."""

    steps: list[Step]
    unknown: list[tuple[float, float]]


def front(choices: Allowed, sums: Sums, tasks: int, cap: int, control: Control) -> Front | None:
    """Return the front of the plans whose costs are at most ``cap`` (bits), None if there is none.

    Raises Expired if the time is up before any plan is found. Complexity: a search of the least sum
    for each point, and up to two more for the first 64. Source: Haimes, Lasdon and Wismer 1971
    (ε-constraint); the order of the limits is our own.
    """
    cap = int(choices.bits[choices.bits <= cap].max(initial=0))
    ends = least_feasible(sums, tasks, cap, control)
    if ends is None:
        return None
    with control.sharing(SHARE_OF_AN_END):
        fast = energy_within(choices, sums, ends, tasks, control)
    assert fast is not None
    first = _step(choices, fast, time_of(choices, fast.entries))
    first.closed = True
    try:
        with control.sharing(SHARE_OF_AN_END):
            cheap = energy_then_time(choices, sums, tasks, cap, control)
    except Expired:
        cheap = None
    if cheap is None:
        return Front(steps=[first], unknown=[(value_of(first.last), value_of(cap))])
    last = _step(choices, cheap, cap)
    steps = [first]
    if last.first > first.first and last.energy < first.energy * (1 - SAME):
        steps.append(last)
    elif last.proved:  # no plan has less energy than the fastest
        first.last, first.energy, first.entries = cap, last.energy, last.entries
        first.proved = True
    _refine(choices, tasks, steps, control)
    steps = _not_beaten(steps)
    return Front(steps=steps, unknown=_unknown(steps, cap))


def _not_beaten(steps: list[Step]) -> list[Step]:
    """Return the steps by time, without those that others beat: some may not be proved."""
    kept: list[Step] = []
    for step in sorted(steps, key=lambda step: (step.first, step.energy)):
        if not kept or step.energy < kept[-1].energy * (1 - SAME):
            kept.append(step)
    return kept


def _step(choices: Allowed, found: LeastSum, limit: int) -> Step:
    time = time_of(choices, found.entries)
    return Step(
        first=time, last=limit, energy=found.value, entries=found.entries, proved=found.proved
    )


def _refine(choices: Allowed, tasks: int, steps: list[Step], control: Control) -> None:
    """Add the steps between those known, as far as time allows."""
    energies = choices.table.energies
    assert energies is not None
    gaps: list[tuple[float, int, Step, Step, bool]] = []
    turn = count()

    def open_gap(before: Step, after: Step, halve: bool = True) -> None:
        if before.last + 1 >= after.first:
            after.closed = True
            return
        width = value_of(after.first) - value_of(before.last)
        heappush(gaps, (-width * (before.energy - after.energy), next(turn), before, after, halve))

    for before, after in pairwise(steps):
        open_gap(before, after)
    while gaps and not control.expired():
        *_, before, after, halve = heappop(gaps)
        limit = after.first - 1
        if halve and len(steps) < BISECTED_UP_TO:
            middle = bits_of((value_of(before.last) + value_of(after.first)) / 2)
            limit = min(max(middle, before.last + 1), limit)
        try:
            found = least_sum(choices, energies, limit, tasks, control)
        except Expired:
            break
        if found is None:  # the search for the fastest plan was stopped before it was proved
            continue
        new = _step(choices, found, limit)
        if new.energy >= before.energy * (1 - SAME):
            if new.proved:
                before.last = limit
                open_gap(before, after, halve=False)
        elif new.energy <= after.energy * (1 + SAME):
            after.first, after.entries, after.energy = new.first, new.entries, new.energy
            open_gap(before, after, halve=False)
        else:
            steps.append(new)
            open_gap(before, new)
            open_gap(new, after)


def _unknown(steps: list[Step], cap: int) -> list[tuple[float, float]]:
    """Return the times between which further points may lie, or the energy may be less."""
    ranges: list[tuple[float, float]] = []
    known = steps[0].first
    sure = steps[0].proved
    for step in steps:
        if step.closed and step.proved and sure:
            known = step.last
            continue
        if step.proved:
            ranges.append((value_of(known), value_of(step.first)))
            known, sure = step.last, True
        else:
            sure = False
    if not sure or known < cap:  # the cheapest plan was not found, or not proved
        ranges.append((value_of(known), value_of(cap)))
    return ranges
