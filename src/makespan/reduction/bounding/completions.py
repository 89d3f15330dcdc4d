"""When an all-reduce can end at the earliest, by when its segments are complete.

Of a segment that is complete at c, the i-th last part is sent at c - R(i) at the latest, and the
i-th copy at c + A(i) - length at the earliest, with the growth R of a reversed reduction and A of a
broadcast. All ports together send what must be sent by some time, and what can't be sent before
some time; all units combine what must be combined by then. How many segments that leaves room for,
whenever each is complete, is a linear programme with a row for each of these times. A solution of
its dual is weights of the rows: they are evaluated in whole numbers, whatever the solver says.
"""

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.reduction.bounding.growth import arrivals

MOST_UNITS = 2**16  # units of time to which all is rounded down
MOST_ROWS = MOST_COLUMNS = 64
WEIGHT = 2**30


class Costs(NamedTuple):
    """What a send and a combination take, in whole units."""

    latency: int
    transfer: int
    reduce: int


def least_seconds(
    machines: int, segments: int, costs: tuple[Fraction, Fraction, Fraction], known: float
) -> float:
    """Return a time before which no all-reduce ends, all in seconds; ``known`` is a bound."""
    parts = math.lcm(*(cost.denominator for cost in costs))
    start = math.floor(known * parts)
    whole = Costs(*(int(cost * parts) for cost in costs))
    return float(Fraction(least_end(machines, segments, whole, start), parts))


@lru_cache(maxsize=64)
def least_end(machines: int, segments: int, costs: Costs, start: int) -> int:
    """Return a time before which no all-reduce ends, at least ``start``, a bound that is known.

    Complexity: O(log T) linear programmes of at most 200 rows and 64 columns, each counted in
    O(log n) an entry.

    >>> least_end(12, 8, Costs(1, 1, 1), 17)
    18
    """
    coarse = start // MOST_UNITS + 1
    room = _Room(machines, segments, Costs(*(cost // coarse for cost in costs)))
    low, step = start // coarse - 1, 1
    while room.too_short(low + step):
        low, step = low + step, 2 * step
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if room.too_short(middle) else (low, middle)
    return max(start, coarse * high)


class _Room:
    """How many segments fit before an end."""

    def __init__(self, machines: int, segments: int, costs: Costs) -> None:
        self.machines, self.segments, self.costs = machines, segments, costs
        latency, transfer, reduce = costs
        self.copied = latency + transfer
        self.combined = self.copied + reduce
        most = max(2, machines)
        there = arrivals(most, self.combined, max(transfer, reduce), self.combined)
        back = arrivals(most, self.copied, transfer, self.copied)
        self.there, self.back = (np.array(each[1:], dtype=np.int64) for each in (there, back))

    def too_short(self, end: int) -> bool:
        """Whether weights show that not all segments can be complete everywhere by ``end``."""
        from makespan.backends.highs import Programme

        first, last = int(self.there[-1]), end - int(self.back[-1])
        if last < first:
            return True
        # a column for every span of times at which a segment may be complete
        edges = _some(first, last + 1, MOST_COLUMNS)
        spans = np.array(list(pairwise([*edges, last + 1])), dtype=np.int64)
        counts, sides = self._rows(end, spans[:, 0], spans[:, 1] - 1)
        if not len(sides):
            return False
        programme = Programme()
        weights = programme.variables(len(sides), cost=sides / self.machines)
        programme.rows(np.tile(weights, (len(spans), 1)), counts.T, low=1.0)
        found = programme.solve(Control()).values
        if len(found) != len(sides) or not found.max(initial=0.0) > 0:
            return False
        whole = np.rint(found / found.max() * WEIGHT).astype(np.int64).astype(object)
        each = min(whole @ counts.astype(object))
        return bool(each * self.segments > whole @ sides.astype(object))

    def _rows(self, end: int, first: Integers, last: Integers) -> tuple[Integers, Integers]:
        """Return how many of a segment's sends or combinations each row counts where it is complete
        between ``first`` and ``last``, and how many all machines have room for.
        """
        _, transfer, reduce = self.costs
        machines, latest = self.machines, end - self.copied
        counts: list[Any] = []
        sides: list[int] = []
        for each in _turns(latest, transfer):
            begun = each * transfer - 1  # as long as a port has begun so many sends, no more
            counts.append(machines - 1 - np.searchsorted(self.there, last - begun))
            begun = latest - each * transfer + 1
            counts.append(machines - 1 - np.searchsorted(self.back, begun - first + self.copied))
            sides += [machines * each] * 2
        for each in _turns(end - self.copied, reduce):
            done = self.copied + (each + 1) * reduce - 1
            due = np.searchsorted(self.there, last + self.combined - done)
            counts.append(machines - 1 - due)
            sides.append(machines * each)
        if transfer:
            counts.append(np.full(len(first), 2 * (machines - 1)))
            sides.append(machines * (latest // transfer + 1))
        return np.array(counts, dtype=np.int64), np.array(sides, dtype=np.int64)


def _turns(room: int, each: int) -> list[int]:
    """Return numbers of turns that a port or unit has, of all that there is room for."""
    return _some(1, room // each + 2, MOST_ROWS) if each else []


def _some(low: int, high: int, most: int) -> list[int]:
    """Return ``most`` of the numbers from ``low`` to below ``high``, or all; ``low`` is one."""
    count = min(most, high - low)
    return [low + (high - low) * step // count for step in range(count)]
