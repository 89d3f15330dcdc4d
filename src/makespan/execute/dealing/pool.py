"""Items that nobody has now: those that are to be done, and those on which workers died."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from makespan.execute.dealing.items import Items

CUT = 8  # pieces into which items are cut on which a worker died
MAX_LOSSES = 3  # after so many workers died while they had nothing else, an item is given up


@dataclass(frozen=True, slots=True)
class Range:
    """The items from ``low`` up to ``high``.

    ``losses`` is how many workers died while they had nothing else; ``long`` are those that take
    longer than the costs say.
    """

    low: int
    high: int
    losses: int = 0
    long: bool = False

    def __len__(self) -> int:
        return self.high - self.low


class Pool:
    """Ranges of items, in their order.

    >>> pool = Pool(Items(range(10)))
    >>> pool.put(Range(0, 4)); pool.put(Range(6, 10))
    >>> pool.take(3.0), pool.take(5.0), pool.load
    (Range(low=0, high=3, losses=0, long=False), Range(low=3, high=4, losses=0, long=False), 4.0)
    """

    def __init__(self, items: Items) -> None:
        self.items = items
        self._ranges: list[Range] = []

    def __bool__(self) -> bool:
        return bool(self._ranges)

    @property
    def load(self) -> float:
        """The load of what lies here."""
        return sum(self.items.load_of(one.low, one.high) for one in self._ranges)

    @property
    def first(self) -> Range | None:
        """The first items, which are alike; None where there are none."""
        return self._ranges[0] if self._ranges else None

    def put(self, one: Range) -> None:
        """Add a range, once; neighbours that are alike become one."""
        if not len(one):
            return
        self.discard(one.low, one.high)
        merged: list[Range] = []
        for other in sorted([*self._ranges, one], key=lambda range_: range_.low):
            last = merged[-1] if merged else None
            if last and replace(last, low=last.high, high=other.high) == other:
                merged[-1] = replace(last, high=other.high)
            else:
                merged.append(other)
        self._ranges = merged

    def discard(self, low: int, high: int) -> None:
        """Leave out the items from ``low`` up to ``high``.

        >>> pool = Pool(Items(range(10)))
        >>> pool.put(Range(0, 10)); pool.discard(2, 4); pool.load, pool.take(9.0)
        (8.0, Range(low=0, high=2, losses=0, long=False))
        """
        self._ranges = [
            part
            for one in self._ranges
            for part in (
                replace(one, high=min(one.high, low)),
                replace(one, low=max(one.low, high)),
            )
            if part.low < part.high
        ]

    def take(self, load: float, count: int | None = None) -> Range:
        """Take the first items: about ``load`` units, at least one item, ``count`` at most.

        All are of one range.
        """
        first = self._ranges.pop(0)
        reach = self.items.load_of(0, first.low) + load
        middle = max(first.low + 1, self.items.item_at(reach))
        if count is not None:
            middle = min(middle, first.low + count)
        if middle >= first.high:
            return first
        self._ranges.insert(0, replace(first, low=middle))
        return replace(first, high=middle)


class Suspects:
    """Pieces of what was lost, each of which is computed by a worker that has nothing else.

    Whoever dies then died of this piece, or by itself: the piece is cut smaller, until an item is
    alone. Nobody else's items are blamed. While there is other work, one worker does that.

    >>> suspects = Suspects()
    >>> suspects.blame(Range(0, 20), alone=False)
    >>> suspects.next(["a", "b"], ["b"], others=True) is None  # a shall be idle first
    True
    >>> suspects.next(["a", "b"], ["a", "b"], others=True)
    ('a', Range(low=0, high=3, losses=0, long=False))
    """

    def __init__(self) -> None:
        self._pieces: deque[Range] = deque()
        self._who = ""

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def put(self, one: Range) -> None:
        """Add a piece."""
        self._pieces.append(one)

    def blame(self, one: Range, *, alone: bool) -> Range | None:
        """Cut a range up whose worker died, unless it is an item that was alone.

        Returns it if as many workers have died of that as may; None otherwise.
        """
        if alone:
            one = replace(one, losses=one.losses + 1)
            if one.losses >= MAX_LOSSES:
                return one
        size = -(-len(one) // CUT)
        for low in range(one.low, one.high, size):
            self.put(replace(one, low=low, high=min(one.high, low + size)))
        return None

    def reserved(self, names: Sequence[str]) -> str:
        """Return which of the workers does nothing else; none where there is nothing to do."""
        if self._pieces and self._who not in names:
            self._who = next(iter(names), "")
        return self._who if self._pieces else ""

    def next(
        self, names: Sequence[str], idle: Sequence[str], *, others: bool
    ) -> tuple[str, Range] | None:
        """Return an idle worker and the piece it gets; without ``others`` to do, any may."""
        if others:
            who = self.reserved(names)
            idle = [name for name in idle if name == who]
        return (idle[0], self._pieces.popleft()) if idle and self._pieces else None
