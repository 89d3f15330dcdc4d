"""Late entries: the last segments that get into a group of machines still have to grow there.

However fast a group is entered, one segment after the other is the first of its kind: the last j
begin to enter when the others have, and from then on they have to be copied to everybody in the
group, by what still enters, and by those inside, who grow from none that has any of them. Counting
copies says how long that takes at least. Where machines meet behind shared links (nodes with a
card), the same is counted for whole nodes, and the last node to get something must then spread it.

Sources: Karp, Sahay, Santos and Schauser 1993, sending items more than once; Bar-Noy and Kipnis
1994, "Multiple message broadcasting in the postal model"; here over groups, with what ports and
shared links let pass.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.reduction.bounding.cuts import Directed, directed, groups, without_shared
from makespan.reduction.bounding.growth import ROUNDING
from makespan.reduction.model import Bools
from makespan.reduction.problem import Reduction

MOST_MACHINES = 64
MOST_GROUPS = 64
MOST_COPIES = 512  # that are counted one by one
HALVINGS = 60
LAST = (1, 2, 3, 4, 6, 8, 12, 16)  # how many segments may be the last


class Source(NamedTuple):
    """Something that makes copies: the first is there after ``length``, then one a ``period``."""

    length: float
    period: float


@lru_cache(maxsize=8)
def late_entries(problem: Reduction) -> float:
    """Return the bound of a problem in which segments are only copied, or only combined, seconds.

    Complexity: O(n²) for each group, and the logarithm for each of at most 512 copies, for those 64
    groups that the most must enter for the longest; 0 beyond 64 machines.
    """
    holds, lacks = problem.statement.copied
    if len(holds) > MOST_MACHINES or not lacks.any():
        return 0.0
    ways, shared = directed(problem, back=problem.statement.combining, least=None)
    search = _Search(problem, ways, without_shared(ways, shared), holds, lacks)
    sets = groups(ways.distance, shared)
    promise = [search.promised(group) for group in sets]
    best = np.argsort(promise, kind="stable")[::-1][:MOST_GROUPS]
    value = max((search.bound(sets[each]) for each in best.tolist()), default=0.0)
    return float(value) * (1 - ROUNDING)


class _Search:
    """What bounds of single groups need."""

    def __init__(
        self, problem: Reduction, ways: Directed, parts: Bools, holds: Bools, lacks: Bools
    ) -> None:
        self.ways, self.parts, self.holds, self.lacks = ways, parts, holds, lacks
        self.sizes, self.least = problem.sizes, float(problem.sizes.min())
        work = ways.work[:, None] * self.least
        self.lasts = ways.seconds * self.least
        self.turns = np.maximum(self.lasts, work)  # of who sends
        self.enters = ways.latency + self.lasts  # from when it is sent
        self.leads = ways.latency + work  # until it begins to arrive
        self.passes = self.enters + work  # from when the giver has it

    def _over(self, group: Bools) -> Bools:
        return np.isfinite(self.ways.seconds) & ~group[:, None] & group

    def _needed(self, group: Bools) -> Bools:
        """Return which segments must enter a group."""
        return np.asarray(self.lacks[group].any(axis=0) & ~self.holds[group].any(axis=0))

    def promised(self, group: Bools) -> float:
        """Return what makes a group worth a look: for how long it is entered."""
        over, needed = self._over(group), self._needed(group)
        if not needed.any() or not over.any():
            return 0.0
        rates = [_rate(*resources) for resources in self._resources(over)]
        return float(self.sizes[needed].sum()) / min(rates)

    def _resources(self, over: Bools) -> Iterator[tuple[Integers, Floats]]:
        """Yield the numbers of what each way over a cut passes, and what a segment takes there.

        All by the ports of those outside, by those inside, by first and by last shared links.
        """
        giver, taker = np.nonzero(over)
        ports = self.ways.ports
        yield giver if ports is None else ports.sending[over], self.turns[over]
        yield taker if ports is None else ports.receiving[over], self.lasts[over]
        for link in (self.ways.first, self.ways.last):
            if (link[over] >= 0).all():
                yield link[over], self.lasts[over]

    def bound(self, group: Bools) -> float:
        """Return when all in a group can have all at the earliest, seconds."""
        over, needed = self._over(group), self._needed(group)
        if not needed.any() or not over.any():
            return 0.0
        count = int(needed.sum())
        soonest = self.ways.distance[self.holds[:, needed].any(axis=1)].min(axis=0)
        begin = float(soonest[over.any(axis=1)].min())
        if not np.isfinite(begin):
            return 0.0
        last = [each for each in LAST if each <= count]
        sizes = np.sort(self.sizes[needed])
        starts = np.max([_starts(*each, sizes, last) for each in self._resources(over)], axis=0)
        first = np.where(over, self.enters, np.inf).min(axis=0)
        there = (first[:, None] + self.ways.distance).min(axis=0)
        lacking = self.lacks[:, needed] & group[:, None]
        path = float(np.where(lacking, there[:, None], 0.0).max(axis=0).min())
        found = [float(starts[0]) + path]
        inside = self._members(group[:, None] & group)
        wanted = np.sort(lacking.sum(axis=0))
        copies = [int(wanted[:each].sum()) for each in last]
        for times in self._copies(over, self.enters[over], inside, int(group.sum()), copies):
            found += (starts[: len(times)] + times).tolist()
        found += self._by_parts(group, over, needed, last, starts)
        whole = self._whole(group, over, soonest, lacking.sum(axis=1), count)
        return max(begin + max(found), self._in_turn(over, soonest, sizes), whole)

    def _whole(self, group: Bools, over: Bools, soonest: Floats, due: Any, count: int) -> float:
        """Return when ``count`` segments can have entered, and each port have taken what it must.

        What a port takes enters the group or comes from inside: whole segments, each by the
        quickest way of its kind, from when the first can come.
        """
        if self.ways.ports is not None:
            return 0.0
        inside = np.isfinite(self.ways.seconds) & group[:, None] & group
        begins = np.where(over | inside, soonest[:, None] + self.leads, np.inf).min(axis=0)[group]
        enters, comes = (
            np.where(ways, self.lasts, np.inf).min(axis=0)[group] for ways in (over, inside)
        )
        able, turns = np.isfinite(enters), np.arange(count + 1)
        comes = np.minimum(comes, enters)
        comes, enters, begins = (
            np.nan_to_num(each, posinf=0.0) for each in (comes, enters, begins)
        )
        others = np.maximum(due[group, None] - turns, 0)
        taken = begins[:, None] + enters[:, None] * turns + others * comes[:, None]
        entered = np.sort(taken[able, 1:].ravel())
        least = float(np.where(due[group] > 0, taken[:, 0], 0.0).max())
        return max(least, float(entered[count - 1]))

    def _in_turn(self, over: Bools, soonest: Floats, sizes: Floats) -> float:
        """Return when the last segment can enter, each port waiting for its first one.

        Nothing arrives by a port before the nearest giver has it and has sent it; then one arrives
        a turn, by the quickest way. ``sizes``, in order, are those of segments that must enter.
        """
        there = np.where(over, soonest[:, None] + self.passes, np.inf)[over]
        value = 0.0
        for numbers, period in islice(self._resources(over), 2):  # not links
            ports = _sources(there, numbers, period)
            if sizes[0] < sizes[-1] and len(ports) > 1:
                continue
            each = np.array([port.period for port in ports])
            if len(sizes) > MOST_COPIES or (each <= 0).any():
                continue
            turns = (np.append(0, sizes[1:].cumsum()) / sizes[0]) * each[:, None]
            arrivals = np.array([port.length for port in ports])[:, None] + turns
            last = np.partition(arrivals.ravel(), len(sizes) - 1)[len(sizes) - 1]
            value = max(value, float(last))
        return value

    def _copies(
        self,
        over: Bools,
        length: Floats,
        inside: Sequence[Source],
        members: int,
        copies: Sequence[int],
    ) -> Iterator[Floats]:
        """Yield when so many copies can be there, by each kind of what passes over a cut."""
        for resources in self._resources(over):
            yield _copied(_sources(length, *resources), inside, members, copies)

    def _members(self, inside: Bools) -> list[Source]:
        """Return what each member can do at most within a group: the best of each port."""
        ports = self.ways.ports
        best: list[Source] = []
        inside = inside & np.isfinite(self.ways.seconds)
        for giver in np.flatnonzero(inside.any(axis=1)).tolist():
            to = inside[giver]
            numbers = np.zeros(int(to.sum()), int) if ports is None else ports.sending[giver, to]
            own = _sources(self.passes[giver, to], numbers, self.turns[giver, to])
            best = _better(best, sorted(own))
        return best

    def _by_parts(
        self, group: Bools, over: Bools, needed: Bools, last: list[int], starts: Floats
    ) -> list[float]:
        """Return the ends by copies from part to part, and then to all in the last part.

        Parts are those whose machines meet without a shared link.
        """
        parts = [part for part in self.parts if part[group].any()]
        if len(self.parts) < 2 or any(not group[part].all() for part in parts):
            return []
        of = self.parts.argmax(axis=0)
        between = np.isfinite(self.ways.seconds) & (of[:, None] != of)
        best: list[Source] = []
        spread = np.inf
        for part in parts:
            out = between & part[:, None] & group
            if out.any():
                links = self.ways.first, self.ways.last
                own = [_sources(self.passes[out], each[out], self.lasts[out]) for each in links]
                fewest = min(own, key=len)
                best = _better(best, sorted(fewest))
            spread = min(spread, self._within(part, between & part, needed))
        wanted = np.sort(
            np.sum([self.lacks[part][:, needed].any(axis=0) for part in parts], axis=0)
        )
        copies = [int(wanted[:each].sum()) for each in last]
        found: list[float] = []
        for times in self._copies(over, self.enters[over], best, len(parts), copies):
            found += (starts[: len(times)] + times + spread).tolist()
        return found

    def _within(self, part: Bools, into: Bools, needed: Bools) -> float:
        """Return how long a segment takes at least in a part from when it gets there first."""
        fewest = int(self.lacks[part][:, needed].sum(axis=0).min())
        inside = self._members(part[:, None] & part)
        at_once = np.zeros(int(into.sum()))
        every = self._copies(into, at_once, inside, int(part.sum()), [fewest])
        return max((time for times in every for time in times.tolist()), default=0.0)


def _rate(numbers: Integers, period: Floats) -> float:
    """Return how many segments a second pass all resources together."""
    each = [float(period[numbers == number].min()) for number in np.unique(numbers)]
    return np.inf if min(each) <= 0 else float(sum(1.0 / one for one in each))


def _sources(length: Floats, numbers: Integers, period: Floats) -> list[Source]:
    """Return what each resource passes at best."""
    return [
        Source(float(length[used].min()), float(period[used].min()))
        for used in (numbers == number for number in np.unique(numbers))
    ]


def _better(one: Sequence[Source], other: Sequence[Source]) -> list[Source]:
    """Return what is no worse than either, source by source."""
    if len(one) < len(other):
        one, other = other, one
    both = [
        Source(min(first.length, second.length), min(first.period, second.period))
        for first, second in zip(one, other, strict=False)
    ]
    return both + list(one[len(other) :])


def _starts(numbers: Integers, period: Floats, sizes: Floats, last: list[int]) -> Floats:
    """Return when, at the earliest, the last segments begin to enter, for each number of them.

    Those before them have begun, one after another on each resource, and all but one of each other
    resource are over. ``sizes`` are in order.
    """
    each = np.array([period[numbers == number].min() for number in np.unique(numbers)])
    if (each <= 0).any():
        return np.zeros(len(last))
    smallest, largest = float(sizes[0]), float(sizes[-1])
    if smallest < largest:
        rate = float((smallest / each).sum())
        ahead = np.array([sizes[: len(sizes) - few].sum() for few in last])
        return np.maximum((ahead - (len(each) - 1) * largest) / rate, 0.0)
    before = len(sizes) - np.array(last)  # that begin no later
    rate = float((1.0 / each).sum())
    low, high = (before - len(each)) / rate, before / rate
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        begun = np.floor(middle[:, None] / each * (1 + ROUNDING) + ROUNDING) + 1
        enough = np.maximum(begun, 0.0).sum(axis=1) > before
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.maximum(low, 0.0)


def _copied(
    entries: Sequence[Source], inside: Sequence[Source], members: int, copies: Sequence[int]
) -> Floats:
    """Return when so many copies can be there at the earliest, for as many numbers as are counted.

    Each of the first ones gives another member something to copy.
    """
    heap = [(each.length, each.period) for each in entries]
    heapify(heap)
    times: list[float] = []
    most = max((each for each in copies if each <= MOST_COPIES), default=0)
    while len(times) < most:
        time, period = heappop(heap)
        if period <= 0:
            times += [time] * (most - len(times))
            break
        times.append(time)
        heappush(heap, (time + period, period))
        if len(times) <= members:
            for each in inside:
                heappush(heap, (time + each.length, each.period))
    return np.array([times[each - 1] for each in copies if 0 < each <= most])
