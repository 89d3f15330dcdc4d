"""A plan found quickly, without any set of sums: steps towards the tasks, the largest first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import TooLarge
from makespan.core.numeric.arrays import Integers
from makespan.partition.model.choices import Choices
from makespan.partition.threshold.inverse import lexicographic
from makespan.partition.threshold.search import ONE_OCTAVE, first_containing
from makespan.partition.threshold.sums import Ends, Expired, Sums, sums_of

GRACE = 0.3
"""Seconds that finding some plan may take after the time is up."""


def quick_entries(choices: Choices, tasks: int, cap: int) -> Integers | None:
    """Return entries that cost up to ``cap`` (bits) and whose counts add up to the tasks.

    At limits in growing steps from the lower bound on, every resource in turn takes the largest
    step towards the tasks.
    Where that does not end there, sets of sums are tried at ``cap``; last, a table without holes
    always has a plan. Returns None where nothing was found within a short time.

    Complexity: O(table) for each of about ten limits.
    """
    control = Control(time_limit=GRACE)
    sums = sums_of(choices, control=control)
    try:
        lowest = ends = first_containing(sums, tasks, cap)
        if lowest is None:
            return None
        for limit in _limits(lowest.limit, cap):
            ends = lowest if limit == lowest.limit else sums.ends(limit, ends, None)
            assert ends is not None  # a higher limit than one at which no row was empty
            entries = _stepped(choices, ends, tasks, control)
            if entries is not None:
                return entries
        return _by_sums(sums, cap, tasks)
    except Expired:
        return _without_holes(choices, cap, tasks)


def _limits(least: int, most: int) -> Iterator[int]:
    """Yield limits in growing steps, the last at ``most``."""
    step = ONE_OCTAVE
    while least < most:
        yield least
        least, step = least + step, 2 * step
    yield most


def _stepped(choices: Choices, ends: Ends, tasks: int, control: Control) -> Integers | None:
    """Return entries after every row took the largest step that is not too much."""
    counts_at = choices.table.counts_at
    down, rest = ends.from_top(tasks), ends.width(tasks)
    entries = (ends.last if down else ends.first).copy()
    spans = counts_at(ends.last) - counts_at(ends.first)
    for row in np.argsort(-spans, kind="stable").tolist():
        if rest == 0:
            break
        if control.expired():
            raise Expired(0)
        allowed = ends.allowed(choices.bits, row)
        places = counts_at(allowed, row)
        steps = places[-1] - places if down else places - places[0]
        fitting = np.flatnonzero(steps <= rest)
        at = int(fitting[0] if down else fitting[-1])
        entries[row], rest = allowed[at], rest - int(steps[at])
    if rest == 0:
        return entries
    return _mended(choices, ends, entries, -rest if down else rest, control)


def _mended(
    choices: Choices, ends: Ends, entries: Integers, more: int, control: Control
) -> Integers | None:
    """Return the entries after one row took exactly what is missing, if any can."""
    counts_at = choices.table.counts_at
    for row, entry in enumerate(entries.tolist()):
        if control.expired():
            raise Expired(0)
        allowed = ends.allowed(choices.bits, row)
        wanted = counts_at(allowed, row) == counts_at(entry, row) + more
        if wanted.any():
            entries[row] = allowed[int(np.argmax(wanted))]
            return entries
    return None


def _by_sums(sums: Sums, cap: int, tasks: int) -> Integers | None:
    ends = sums.ends(cap, None, None)
    try:
        return None if ends is None or not ends.contain(tasks) else sums.trace(ends, tasks)
    except TooLarge:
        return None


def _without_holes(choices: Choices, cap: int, tasks: int) -> Integers | None:
    """Return the lexicographically least plan where every count of every row is allowed."""
    if not choices.contiguous.all() or int(choices.bits.max(initial=0)) > cap:
        return None
    lower, upper = choices.least_counts, choices.greatest_counts
    if not int(lower.sum()) <= tasks <= int(upper.sum()):
        return None
    return choices.low + (lexicographic(lower, upper, tasks) - lower)
