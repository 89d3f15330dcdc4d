"""The free times of one core, link or port, in which activities are inserted."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

FOREVER = float("inf")


class Taken(NamedTuple):
    """What taking a time has replaced: the gap at ``place``, and by how many gaps."""

    place: int
    start: float
    end: float
    pieces: int


class Gaps:
    """Free times in their order, the last without an end.

    >>> gaps = Gaps()
    >>> taken = gaps.take(2.0, 3.0)
    >>> gaps.first_fit(0.0, 2.0), gaps.first_fit(1.0, 2.0)
    (0.0, 3.0)
    """

    def __init__(self) -> None:
        self._start = [0.0]
        self._end = [FOREVER]

    def first_fit(self, earliest: float, length: float) -> float:
        """Return the first start, not before ``earliest``, of ``length`` free seconds.

        Complexity: O(log g + the gaps behind ``earliest`` that are too short).
        """
        starts, ends = self._start, self._end
        place = bisect_left(ends, earliest)
        while True:
            begin = max(starts[place], earliest)
            if begin + length <= ends[place]:
                return begin
            place += 1

    def after(self, earliest: float) -> list[tuple[float, float]]:
        """Return the gaps that do not end before ``earliest``, cut off there."""
        place = bisect_left(self._end, earliest)
        return [
            (max(begin, earliest), end)
            for begin, end in zip(self._start[place:], self._end[place:], strict=True)
        ]

    def fits(self, start: float, end: float) -> bool:
        """Whether the time from ``start`` to ``end`` is free."""
        place = bisect_left(self._end, end)
        return self._start[place] <= start

    def take(self, start: float, end: float) -> Taken:
        """Take the time from ``start`` to ``end``, which lies in the gap of its first fit.

        A time of no length splits its gap, so that nothing is inserted around it.
        """
        starts, ends = self._start, self._end
        place = bisect_left(ends, start)
        while end > ends[place]:
            place += 1
        first, last = starts[place], ends[place]
        before, behind = first < start, end < last
        if before and behind:
            ends.insert(place, start)
            starts.insert(place + 1, end)
        elif start == end:
            return Taken(place, first, last, 1)
        elif before:
            ends[place] = start
        elif behind:
            starts[place] = end
        else:
            del starts[place], ends[place]
        return Taken(place, first, last, before + behind)

    def undo(self, taken: Taken) -> None:
        """Give back the latest time taken that has not been given back."""
        until = taken.place + taken.pieces
        self._start[taken.place : until] = [taken.start]
        self._end[taken.place : until] = [taken.end]
