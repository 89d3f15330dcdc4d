"""What is too small to be seen, merged: narrow bars into blocks, further machines into one row."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from makespan.core.numeric.arrays import Floats
from makespan.core.picture import Bars, Picture, Role, Row
from makespan.drawing.text import percent

MERGED = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Blocks(Bars):
    """Bars and merged bars, in the order of row, lane, role and start.

    ``covered`` is the share of a block's time that its bars cover, 1 for a single bar;
    ``activity`` is -1 for a block of several bars.
    """

    covered: NDArray[np.float64]


def merged(bars: Bars, resolution: float, most: int) -> Blocks:
    """Merge neighbouring bars of a lane and role that are narrower than ``resolution``, in seconds.

    Neighbours merge where both are narrower and so is the gap between them. The resolution doubles
    until there are no more than ``most`` blocks, or nothing is left to merge. Complexity: O(n log
    n) for n bars.
    """
    ordered = bars.take(np.lexsort((bars.start, bars.role, bars.lane, bars.row)))
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
    lift = np.cumsum(~same) * (2.0 * float(bars.end.max(initial=0.0)) + 1.0)
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


PARTS = 240  # parts of the time, in each of which the share of busy machines is shown
LANES = {Role.COMPUTE: "compute", Role.REDUCE: "reduce", Role.SEND: "send"}
"""What is summed up of machines that are not shown, and what that is called."""


def rows_shown(picture: Picture, max_rows: int) -> list[Row]:
    """Return the first rows, and one for all others where there are more."""
    shown = list(picture.rows[:max_rows])
    hidden = len(picture.rows) - len(shown)
    if hidden <= 0:
        return shown
    roles = _roles(picture, len(shown))
    busy = picture.bars.take((picture.bars.row >= len(shown)) & (picture.bars.role == roles[0]))
    end = float(picture.bars.end.max(initial=0.0)) or 1.0
    share = float((busy.end - busy.start).sum()) / (hidden * end)
    name = f"{hidden:,} more machine{'s' if hidden > 1 else ''}"
    note = f"busy {percent(min(share, 1.0))}" if len(busy) else "idle"
    return [*shown, Row(name, tuple(LANES[role] for role in roles), note)]


def crowd(picture: Picture, count: int, end: float) -> Blocks | None:
    """Return the blocks of the row for those beyond ``count``: as dark as many are busy."""
    hidden = len(picture.rows) - count
    if hidden <= 0:
        return None
    beyond = picture.bars.take(picture.bars.row >= count)
    last = float(picture.bars.end.max(initial=0.0))
    if last == 0.0:
        return None
    edges = np.linspace(0.0, last, PARTS + 1)
    found = []
    for lane, role in enumerate(_roles(picture, count)):
        bars = beyond.take(beyond.role == role)
        share = np.diff(_until(bars, edges)) / (hidden * np.diff(edges))
        some = np.flatnonzero(share > 1e-9)
        column = np.zeros(len(some), dtype=np.int64)
        found.append(
            Blocks(
                row=column + count,
                lane=column + lane,
                role=(column + role).astype(np.int64),
                activity=column + MERGED,
                start=edges[some],
                end=edges[some + 1],
                covered=np.minimum(share[some], 1.0),
            )
        )
    return Blocks.concatenate(found)


def _roles(picture: Picture, count: int) -> Sequence[Role]:
    """Return what those beyond ``count`` do; if nothing, they might compute."""
    used = set(np.unique(picture.bars.role[picture.bars.row >= count]).tolist())
    return [role for role in LANES if role in used] or [Role.COMPUTE]


def _until(bars: Bars, times: Floats) -> Floats:
    """Return the seconds that bars cover until each time, all together."""
    total = np.zeros(len(times))
    for moments, sign in ((bars.start, 1.0), (bars.end, -1.0)):
        ordered = np.sort(moments)
        before = np.searchsorted(ordered, times)
        sums = np.concatenate([[0.0], np.cumsum(ordered)])
        total += sign * (before * times - sums[before])
    return total
