"""When cores, links and ports are free, while a plan grows."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
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
        """Return the first start, not before ``earliest``, of ``length`` free seconds."""
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
        return self._start[bisect_left(self._end, end)] <= start

    def take(self, start: float, end: float) -> Taken:
        """Take the time from ``start`` to ``end``, or split the gap there if that is no time."""
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


class Cores:
    """Cores that are taken one task after another, those that are free first.

    >>> cores = Cores(4)
    >>> cores.take(3, 5.0)
    >>> cores.free_at(1), cores.free_at(2), cores.free_at(5)
    (0.0, 5.0, inf)
    """

    def __init__(self, count: int) -> None:
        self._runs: list[tuple[float, int]] = [(0.0, count)]  # free from when on, how many

    def copy(self) -> Cores:
        other = Cores(0)
        other._runs = self._runs.copy()
        return other

    def free_at(self, width: int = 1) -> float:
        """Return when so many are free together; inf where there are fewer."""
        for time, count in self._runs:
            width -= count
            if width <= 0:
                return time
        return FOREVER

    def take(self, width: int, until: float) -> None:
        """Take those that are free first."""
        runs, left = self._runs, width
        while left:
            time, count = runs[0]
            if count > left:
                runs[0] = time, count - left
                break
            del runs[0]
            left -= count
        insort(runs, (until, width))


class Replaced(NamedTuple):
    """What taking cores has replaced: the parts from ``place`` on, and by how many."""

    place: int
    times: list[float]
    free: list[int]
    pieces: int


class Profile:
    """How many cores are free at each time, where tasks are inserted before others.

    Whenever so many cores are free, tasks can be dealt out to them: that they are is enough.

    >>> profile = Profile(3)
    >>> taken = profile.take(1.0, 4.0, 2)
    >>> profile.first_fit(0.0, 2.0, 1), profile.first_fit(0.0, 2.0, 2)
    (0.0, 4.0)
    """

    def __init__(self, cores: int) -> None:
        self.cores = cores
        self._times, self._free = [0.0], [cores]  # the last part has no end

    def first_fit(self, earliest: float, length: float, width: int) -> float:
        """Return the first start, not before ``earliest``, with ``width`` cores for so long."""
        if width > self.cores:
            return FOREVER
        times, free = self._times, self._free
        place, begin, last = bisect_right(times, earliest) - 1, earliest, len(times) - 1
        while place < last:
            if free[place] < width:
                begin = times[place + 1]
            elif begin + length <= times[place + 1]:
                return begin
            place += 1
        return begin

    def options(self, earliest: float, width: int) -> list[tuple[float, float]]:
        """Return from when, and until when, ``width`` cores are free; rising, none twice."""
        if width > self.cores:
            return []
        times, free = [*self._times, FOREVER], self._free
        found, until = [], FOREVER
        for place in range(len(free) - 1, -1, -1):
            if times[place + 1] <= earliest:
                break
            if free[place] < width:
                until = times[place]
            else:
                found.append((max(times[place], earliest), until))
        return found[::-1]

    def take(self, start: float, end: float, width: int) -> Replaced:
        """Take cores from ``start`` to ``end``, which are free then."""
        times, free = self._times, self._free
        first = bisect_right(times, start) - 1
        last = max(bisect_left(times, end), first + 1)
        replaced = times[first:last], free[first:last]
        new_times, new_free = [start, *times[first + 1 : last]], [f - width for f in replaced[1]]
        if times[first] < start:
            new_times.insert(0, times[first])
            new_free.insert(0, free[first])
        if last == len(times) or end < times[last]:
            new_times.append(end)
            new_free.append(free[last - 1])
        if start == end:
            new_times, new_free = replaced
        times[first:last], free[first:last] = new_times, new_free
        return Replaced(first, *replaced, len(new_times))

    def undo(self, taken: Replaced) -> None:
        """Give back what was taken last and has not been given back."""
        until = taken.place + taken.pieces
        self._times[taken.place : until], self._free[taken.place : until] = taken.times, taken.free
