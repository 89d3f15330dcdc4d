"""Items that nobody has now."""

from __future__ import annotations

from dataclasses import dataclass

from makespan.execute.dask.cluster.items import Items

MAX_LOSSES = 3  # after so many workers died on it, an item is given up


@dataclass(frozen=True, slots=True)
class Range:
    """The items from ``low`` up to ``high``, and how many workers died while they had them."""

    low: int
    high: int
    losses: int = 0

    def __len__(self) -> int:
        return self.high - self.low


class Pool:
    """Ranges of items, in their order.

    >>> pool = Pool(Items(range(10)))
    >>> pool.put(Range(0, 4)); pool.put(Range(6, 10))
    >>> pool.take(3.0), pool.take(5.0), pool.load
    (Range(low=0, high=3, losses=0), Range(low=3, high=4, losses=0), 4.0)
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

    def put(self, one: Range) -> None:
        """Add a range, once; neighbours that were lost as often become one."""
        if not len(one):
            return
        self.discard(one.low, one.high)
        merged: list[Range] = []
        for other in sorted([*self._ranges, one], key=lambda range_: range_.low):
            if merged and merged[-1].high == other.low and merged[-1].losses == other.losses:
                merged[-1] = Range(merged[-1].low, other.high, other.losses)
            else:
                merged.append(other)
        self._ranges = merged

    def discard(self, low: int, high: int) -> None:
        """Leave out the items from ``low`` up to ``high``.

        >>> pool = Pool(Items(range(10)))
        >>> pool.put(Range(0, 10)); pool.discard(2, 4); pool.load, pool.take(9.0)
        (8.0, Range(low=0, high=2, losses=0))
        """
        self._ranges = [
            part
            for one in self._ranges
            for part in (
                Range(one.low, min(one.high, low), one.losses),
                Range(max(one.low, high), one.high, one.losses),
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
        self._ranges.insert(0, Range(middle, first.high, first.losses))
        return Range(first.low, middle, first.losses)
