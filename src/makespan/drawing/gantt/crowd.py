"""Machines beyond those shown, as one row: how many of them are busy at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.core.picture import Bars, Picture, Role, Row
from makespan.drawing.gantt.merge import MERGED, Blocks
from makespan.drawing.text import percent

PARTS = 240
"""Parts of the time, in each of which the share of busy machines is shown."""
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
    """Return the blocks of the row for those beyond ``count``: as dark as many are busy.

    Complexity: O(n log n) for n bars.
    """
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
