"""Items that nobody has now."""

from __future__ import annotations

from dataclasses import dataclass, replace

from makespan.execute.dealing.items import Items


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
