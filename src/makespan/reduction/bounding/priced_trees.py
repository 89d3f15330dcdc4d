"""Priced trees: no prices may let segments earn more than machines and ports are worth.

In a plan that ends by T, each segment grows from where it is first, or complete, over ways that
hold ports. Let each machine pay a price, of either sign, for each segment that it gets, and let a
price, at least 0, be paid for each moment that a port is busy. What each segment earns at most is
found by :mod:`makespan.reduction.bounding.earnings` as if it could get to a machine more than once.
All machines pay for what they must get; all ports take no more than their prices from 0 to T, as
each does one thing at a time. So where machines pay more than all segments can earn and all ports
can take, no plan ends by T: a Lagrangian relaxation of trees over time.

- Of an all-reduce, a segment grows two ways from when it is complete: copies forwards, and parts
  backwards. It is complete on a machine no sooner than one segment alone can be reduced to there,
  and so long before the end as one alone takes to all others.
- Segments that one machine alone has begin one after another on its port.
- One segment alone, without prices of ports, bounds how long it takes from each machine.

Source: Lagrangian relaxation as in Held and Karp 1971, and Geoffrion 1974, "Lagrangean relaxation
for integer programming"; over time as in Ford and Fulkerson 1958.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers, readonly
from makespan.reduction.bounding.earnings import SURE, price
from makespan.reduction.bounding.growth import ROUNDING
from makespan.reduction.bounding.one_segment import one_segment
from makespan.reduction.bounding.packing import spans, spans_both_ways
from makespan.reduction.model import Bools
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import tables_of

MOMENTS, LONGEST = 160, 320  # into which the known bound is divided, and those looked at, at most
STEPS, STEPS_ALONE = 40_000_000, 30_000_000  # of the loop: a tenth of a second for 10 million
TRIES, TRIES_ALONE = 1_500, 80  # in a row for one end
FEWEST = 300  # changes of prices; fewer prove nothing
PATIENCE, PATIENCE_ALONE = 150, 20
PACE = 0.7
SHARE = 0.5  # of what a machine pays, which its quickest way pays for a port at first


class _Half(NamedTuple):
    """Copies, or parts in reversed time, in moments; a link that misses lasts 0."""

    lag: Integers
    lasts: Integers
    period: Integers  # of one segment alone
    work: Integers


@lru_cache(maxsize=8)
def priced_trees(problem: Reduction, known: float) -> float:
    """Return the bound of a collective that all machines have a part in, seconds; 0 for none.

    ``known`` is another bound, seconds. Complexity: O(n² T) for each change of prices, for T
    moments up to the bound; 70 million steps at most, and none where the loop isn't compiled.
    """
    both = spans_both_ways(problem)
    if problem.ports is not None or known <= 0 or not (both or spans(problem)):
        return 0.0
    machines = len(problem.machines)
    linked = ~np.eye(machines, dtype=bool) if problem.links is None else problem.links
    halves, moment = _halves(problem, known, linked)
    once = len(halves) * machines**2 * known / moment
    if any((half.lasts <= 0).sum() > (~linked).sum() for half in halves):
        return 0.0
    if once * FEWEST > STEPS or not price.pays(STEPS):
        return 0.0
    search = _Search(problem, halves, moment)
    return (search.both_ways() if both else search.one_way()) * moment * (1 - ROUNDING)


def _halves(problem: Reduction, known: float, linked: Bools) -> tuple[list[_Half], float]:
    """Return the halves of a problem, and how long a moment is, seconds.

    Times are rounded down to moments, so that no plan gets longer.
    """
    tables = tables_of(problem).over(len(problem.machines))
    least, each = tables.size.min(), known / MOMENTS
    times: Any = tables.latency, tables.transfer * least, tables.reduce * least
    if tables.unit is None:
        moment = each
        times = [np.floor(table / moment * (1 - ROUNDING)) for table in times]
    else:
        count = max(1, round(each / float(tables.unit)))
        moment = float(tables.unit * count)
        times = [table // count for table in times]
    lag, lasts = (np.where(linked, table, 0).astype(np.int64) for table in times[:2])
    work = times[2].astype(np.int64)
    copies = _Half(lag, lasts, lasts, np.zeros_like(work))
    # a unit that is slower than all ways makes the pace; one that is slower than some need not
    slow = work >= lasts.max(axis=0)
    parts = _Half(lag.T, lasts.T, np.where(slow[:, None], work[:, None], lasts.T), work)
    if not problem.statement.combining:
        return [copies], moment
    return ([parts] if problem.statement.one_way else [copies, parts]), moment


class _Search:
    """The search for prices; all times are in moments."""

    def __init__(self, problem: Reduction, halves: list[_Half], moment: float) -> None:
        self.problem, self.halves, self.moment = problem, halves, moment
        self.count = len(problem.machines)
        back = problem.statement.combining
        ways = [back] if len(halves) == 1 else [False, True]
        self.alone = [self._alone(half, way) for half, way in zip(halves, ways, strict=True)]

    def both_ways(self) -> int:
        """Return the bound of an all-reduce."""
        spread, there = self.alone
        wanted = np.full((2, self.count), float(self.problem.items))
        least = int((there + spread).min())
        return self._proved(least, wanted, self._no_starts, np.array([there, spread]))

    def one_way(self) -> int:
        """Return the bound where segments are only copied, or only combined."""
        holds, lacks = self.problem.statement.copied
        holds, lacks = (table[:, lacks.any(axis=0)] for table in (holds, lacks))
        half, starts, least = self.halves[0], [], 0
        for machine, held in enumerate(holds):
            own = int((held & (holds.sum(axis=0) == 1)).sum())
            ways = half.lasts[machine][half.lasts[machine] > 0]
            turn = max(int(ways.min()) if len(ways) else 0, int(half.work[machine]))
            starts += [(machine, turn * place) for place in range(own)]
            starts += [(machine, 0)] * (int(held.sum()) - own)
            if own:
                least = max(least, turn * (own - 1) + int(self.alone[0][machine]))
        wanted = lacks.sum(axis=1)[None].astype(float)
        return self._proved(least, wanted, np.array(starts), self._no_window)

    def _alone(self, half: _Half, back: bool) -> Integers:
        """Return how long one segment takes at least from each machine to all others."""
        size, left = float(self.problem.sizes.min()), STEPS_ALONE
        known = one_segment(self.problem, size, back=back, quick=False) / self.moment
        known = np.floor(np.clip(known * (1 - ROUNDING) + ROUNDING, 1, LONGEST))
        least = known.astype(np.int64)
        cover = np.ones((1, self.count))
        for machine in np.argsort(least, kind="stable").tolist():
            wanted = np.ones((1, self.count))
            wanted[0, machine], cover[0, machine] = 0.0, -1.0
            while left > 0 and least[machine] < LONGEST:
                before = int(least[machine])
                horizon = min(int(least.max()), 2 * before) + 1
                starts = np.array([[machine, horizon - before]])
                prices = np.zeros((2, self.count, horizon))
                self._price(
                    [half], wanted, starts, self._no_window, cover, prices, 0.0, PATIENCE_ALONE,
                    TRIES_ALONE, least,
                )  # fmt: skip
                left -= self.count**2 * horizon * TRIES_ALONE
                if least[machine] == before:
                    break
            cover[0, machine] = 1.0
        return least

    def _proved(self, horizon: int, wanted: Floats, starts: Integers, window: Integers) -> int:
        """Return the first end that can't be excluded, from a bound on."""
        if horizon > LONGEST:
            return horizon
        halves, left = [half._replace(period=half.lasts) for half in self.halves], STEPS
        lasts = np.where(self.halves[0].lasts > 0, self.halves[0].lasts, np.inf)
        each = np.array([SHARE / lasts.min(axis=axis) for axis in (1, 0)])
        prices = np.repeat(each[:, :, None], horizon, axis=2)
        cover = np.where(wanted > 0, 1.0, -1.0)
        while left > 0:
            once = len(halves) * self.count**2 * horizon
            tries, none = min(TRIES, left // once + 1), np.zeros(0, dtype=np.int64)
            value, turns = self._price(
                halves, wanted, starts, window, cover, prices, PACE, PATIENCE, tries, none
            )
            if value >= SURE:
                break
            left -= once * turns
            horizon += 1
            prices = np.insert(prices, horizon // 2, prices[:, :, horizon // 2], axis=2)
        return horizon

    def _price(
        self, halves: list[_Half], wanted: Floats, starts: Integers, window: Integers, *changed: Any
    ) -> tuple[float, int]:
        """Change prices; return what the loop returns."""
        columns = (np.stack([half[place] for half in halves]) for place in range(4))
        given = readonly(*columns, wanted, starts, window)
        return price.at(STEPS)(*given, float(self.problem.items), *changed)  # type: ignore[no-any-return]

    @property
    def _no_starts(self) -> Integers:
        return np.zeros((0, 2), dtype=np.int64)

    @property
    def _no_window(self) -> Integers:
        return np.zeros((2, self.count), dtype=np.int64)
