"""Bars that overlap in one lane, put beside each other on tracks."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from makespan.core.picture import Bars

MAX_TRACKS = 8


def tracks(bars: Bars, tolerance: float, most: int = MAX_TRACKS) -> NDArray[np.int64]:
    """Return the track of each bar in its lane, so that bars of one track do not overlap.

    A lane in which more than ``most`` bars overlap keeps one track: there they are drawn over
    each other. Overlaps up to ``tolerance`` seconds do not count.

    Complexity: O(n log n) for n bars.
    """
    track = np.zeros(len(bars), dtype=np.int64)
    if len(bars) == 0:
        return track
    order = np.lexsort((bars.end, bars.start, bars.lane, bars.row))
    row, lane = bars.row[order], bars.lane[order]
    firsts = np.flatnonzero(
        np.concatenate([[True], (row[1:] != row[:-1]) | (lane[1:] != lane[:-1])])
    )
    for first, last in zip(firsts, np.append(firsts[1:], len(bars)), strict=True):
        members = order[first:last]
        start, end = bars.start[members], bars.end[members]
        reach = np.maximum.accumulate(end)
        if (start[1:] < reach[:-1] - tolerance).any():
            track[members] = _partition(start.tolist(), end.tolist(), tolerance, most)
    return track


def _partition(
    start: list[float], end: list[float], tolerance: float, most: int
) -> NDArray[np.int64]:
    """Give each interval, by start, the lowest track that is free; one track if too few."""
    chosen = np.zeros(len(start), dtype=np.int64)
    busy: list[tuple[float, int]] = []
    free = list(range(min(most, len(start))))
    for position, begin in enumerate(start):
        while busy and busy[0][0] <= begin + tolerance:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if not free:
            return np.zeros(len(start), dtype=np.int64)
        chosen[position] = heapq.heappop(free)
        heapq.heappush(busy, (end[position], int(chosen[position])))
    return chosen
