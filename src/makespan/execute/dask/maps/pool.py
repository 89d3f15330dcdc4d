"""Items that nobody has now, and how they are dealt out: in pieces that grow smaller."""

from __future__ import annotations

from dataclasses import dataclass

from makespan.execute.dask.cluster.items import Items

MIN_PIECES = 2.0  # a worker gets at most its share of the rest divided by this
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
        """Add a range; neighbours that were lost as often become one."""
        if not len(one):
            return
        merged: list[Range] = []
        for other in sorted([*self._ranges, one], key=lambda range_: range_.low):
            if merged and merged[-1].high == other.low and merged[-1].losses == other.losses:
                merged[-1] = Range(merged[-1].low, other.high, other.losses)
            else:
                merged.append(other)
        self._ranges = merged

    def take(self, load: float) -> Range:
        """Take the first items: about ``load`` units, at least one item, of one range."""
        first = self._ranges.pop(0)
        reach = float(self.items.edges[first.low]) + load
        middle = max(first.low + 1, self.items.item_at(reach))
        if middle >= first.high:
            return first
        self._ranges.insert(0, Range(middle, first.high, first.losses))
        return Range(first.low, middle, first.losses)


def piece(rest: float, speed: float, speeds: float, least: float) -> float:
    """Return how much of the ``rest`` a worker gets next: factoring, weighted by speed.

    Source: S. F. Hummel, J. Schmidt, R. N. Uma, J. Wein, Load-sharing in heterogeneous systems
    via weighted factoring, SPAA 1996: each batch is half of what is left.

    >>> piece(100.0, 1.0, 4.0, 2.0), piece(4.0, 1.0, 4.0, 2.0)
    (12.5, 2.0)
    """
    return max(least, rest * speed / speeds / MIN_PIECES)
