"""Bars too narrow to be seen, merged into blocks that keep the time they cover."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from makespan.core.picture import Bars

MERGED = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Blocks(Bars):
    """Bars and merged bars, in the order of row, lane, role and start.

    ``covered`` is the share of a block's time that its bars cover, 1 for a single bar;
    ``activity`` is -1 for a block of several bars.
    """

    covered: NDArray[np.float64]


def merged(bars: Bars, resolution: float, most: int) -> Blocks:
    """Merge neighbouring bars of a lane and role that are narrower than ``resolution``.

    Parameters
    ----------
    bars
        The bars.
    resolution
        Seconds. Neighbours merge where both are narrower and so is the gap between them.
    most
        How many blocks there may be; the resolution doubles until they are no more, or until
        nothing is left to merge.

    Complexity: O(n log n) for n bars.
    """
    order = np.lexsort((bars.start, bars.role, bars.lane, bars.row))
    ordered = bars.take(order)
    span = float(bars.end.max(initial=0.0))
    blocks = _merged(ordered, resolution)
    while len(blocks) > most and resolution <= span:
        resolution *= 2.0
        blocks = _merged(ordered, resolution)
    return blocks


def _merged(bars: Bars, resolution: float) -> Blocks:
    count = len(bars)
    if count == 0:
        return _blocks(bars, np.empty(0, dtype=np.int64))
    opens = np.ones(count, dtype=bool)
    narrow = bars.end - bars.start < resolution
    same = _same_as_before(bars)
    reach = _reach(bars, same)
    opens[1:] = ~(same[1:] & narrow[1:] & narrow[:-1] & (bars.start[1:] - reach[:-1] < resolution))
    return _blocks(bars, np.flatnonzero(opens))


def _same_as_before(bars: Bars) -> NDArray[np.bool_]:
    """Whether each bar is in the lane and of the role of the bar before it."""
    same = np.zeros(len(bars), dtype=bool)
    same[1:] = (
        (bars.row[1:] == bars.row[:-1])
        & (bars.lane[1:] == bars.lane[:-1])
        & (bars.role[1:] == bars.role[:-1])
    )
    return same


def _reach(bars: Bars, same: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the latest end so far in each bar's lane and role."""
    group = np.cumsum(~same)
    lift = group * (2.0 * float(bars.end.max(initial=0.0)) + 1.0)
    lifted: NDArray[np.float64] = np.maximum.accumulate(bars.end + lift) - lift
    return lifted


def _blocks(bars: Bars, first: NDArray[np.int64]) -> Blocks:
    if len(first) == 0:
        start = end = covered = np.empty(0)
        sizes = first
    else:
        start = bars.start[first]
        end = np.maximum.reduceat(bars.end, first)
        sizes = np.diff(np.append(first, len(bars)))
        busy = np.add.reduceat(bars.end - bars.start, first)
        width = end - start
        covered = np.ones(len(first))
        np.divide(busy, width, out=covered, where=(sizes > 1) & (width > 0))
    return Blocks(
        row=bars.row[first],
        lane=bars.lane[first],
        role=bars.role[first],
        activity=np.where(sizes > 1, MERGED, bars.activity[first]),
        start=start,
        end=end,
        covered=np.minimum(covered, 1.0),
    )
