"""Compiled loops of the referee; nothing of the solvers' is used."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import kernel


@kernel
def longest_overlap(
    rows: Integers,
    group: Integers,
    start: Floats,
    end: Floats,
    last_start: Floats,
    last_end: Floats,
) -> float:
    """Return by how much a row of a group starts, at most, before the one before it has ended.

    Infinity where the rows of a group don't stand in the order of their starts and ends. The last
    two columns hold minus infinity for each group.
    """
    most = -np.inf
    for row in rows:
        one, begin, stop = group[row], start[row], end[row]
        if begin < last_start[one] or (begin == last_start[one] and stop < last_end[one]):
            return np.inf
        most = max(most, last_end[one] - begin)
        last_start[one], last_end[one] = begin, stop
    return most


@kernel
def tally(item: Integers, amount: Floats, rows: Integers, done: Floats) -> None:
    """Count the rows of each task, and add up what they do."""
    for row in range(len(item)):
        rows[item[row]] += 1
        done[item[row]] += amount[row]
