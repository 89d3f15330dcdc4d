"""Sweeps over time: which activities overlap, and how many at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Schedule


class Overlap(NamedTuple):
    """Two rows that overlap, and for how long: from the later's start to the first end."""

    earlier: int
    later: int
    seconds: float


def overlaps(
    schedule: Schedule,
    rows: Integers,
    group: Integers,
    tolerance: float,
    side: NDArray[np.bool_] | None = None,
) -> Iterator[Overlap]:
    """Yield rows of the same group that overlap by more than ``tolerance`` seconds.

    Every row that overlaps an earlier one is told once, with the earlier one that ends last. With
    ``side``, only rows of different sides exclude each other. A row of no length overlaps
    nothing.

    Complexity: O(n log n), vectorised.
    """
    often = np.bincount(group) > 1
    if not often.any():
        return
    shared = often[group]
    rows, group = rows[shared], group[shared]
    order = _by_start(schedule.start[rows], group)
    rows, group = rows[order], group[order]
    in_turn = (schedule.start[rows[1:]] >= schedule.end[rows[:-1]]) | (group[1:] != group[:-1])
    if in_turn.all():
        return
    if side is None:
        everything = np.ones(len(rows), dtype=bool)
        yield from _against_latest(
            schedule, rows, group, tolerance, holds=everything, waits=everything
        )
    else:
        side = side[shared][order]
        yield from _against_latest(schedule, rows, group, tolerance, holds=side, waits=~side)
        yield from _against_latest(schedule, rows, group, tolerance, holds=~side, waits=side)


def _by_start(start: Floats, group: Integers) -> Integers:
    """Return the order by group, then start."""
    same_group = bool(np.all(group == group[0]))
    if same_group and bool(np.all(start[1:] >= start[:-1])):
        return np.arange(len(start))
    return np.lexsort((start, group))


def _against_latest(
    schedule: Schedule,
    rows: Integers,
    group: Integers,
    tolerance: float,
    *,
    holds: NDArray[np.bool_],
    waits: NDArray[np.bool_],
) -> Iterator[Overlap]:
    """Compare every row that waits with the row before it that holds its group the longest.

    The ranks of the ends, above an offset for each group, make the running maximum of all groups
    at once, exactly.
    """
    start, end = schedule.start[rows], schedule.end[rows]
    count = len(rows)
    by_end = np.argsort(end, kind="stable")
    rank = np.empty(count, dtype=np.int64)
    rank[by_end] = np.arange(count)
    latest = np.maximum.accumulate(np.where(holds, group * count + rank, -1))
    before = np.concatenate([[-1], latest[:-1]])
    candidates = np.flatnonzero(waits & (before >= group * count))
    holder = by_end[before[candidates] - group[candidates] * count]
    shared = np.minimum(end[candidates], end[holder]) - start[candidates]
    for index in np.flatnonzero(shared > tolerance).tolist():
        yield Overlap(int(rows[holder[index]]), int(rows[candidates[index]]), float(shared[index]))


class Crowd(NamedTuple):
    """A moment at which too much goes on: the weight, and which entries (by position)."""

    time: float
    weight: float
    members: tuple[int, ...]


def crowds(
    start: Floats, end: Floats, weight: Floats, limit: float, tolerance: float
) -> Iterator[Crowd]:
    """Yield the moments at which the weight of what goes on rises above ``limit``.

    What overlaps by no more than ``tolerance`` seconds does not count as going on together.
    Complexity: O(n log n), vectorised.
    """
    end = end - tolerance
    lasting = np.flatnonzero(end > start)
    moment = np.concatenate([end[lasting], start[lasting]])
    change = np.concatenate([-weight[lasting], weight[lasting]])
    order = np.argsort(moment, kind="stable")
    moment, total = moment[order], np.cumsum(change[order])
    settled = np.flatnonzero(
        np.diff(moment, append=np.inf) > 0
    )  # all that changes then has changed
    over = total[settled] > limit
    rises = np.flatnonzero(over & ~np.concatenate([[False], over[:-1]]))
    for time in moment[settled[rises]].tolist():
        members = np.flatnonzero((start <= time) & (time < end) & (weight > 0))
        yield Crowd(time, float(weight[members].sum()), tuple(members.tolist()))
