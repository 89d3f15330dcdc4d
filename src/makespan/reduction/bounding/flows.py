"""Flows from one machine to one other each, whatever ways they take.

Segments that one machine has and one other must get are sent over ways such that what gets to a
machine is what it needs, and what it sends on. How much over each, in the least time of the
busiest port or link, is a linear programme.

Source: Legrand, Marchal and Robert 2005, "Optimizing the steady-state throughput of scatter and
reduce operations on heterogeneous platforms"; here with latencies.
"""

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any

import numpy as np

from makespan.backends.repeated import CuttingPlanes, Unsolved
from makespan.core.numeric.arrays import Floats
from makespan.core.numeric.binding import is_plain
from makespan.reduction.bounding import distances
from makespan.reduction.bounding.growth import ROUNDING
from makespan.reduction.heuristics.open_shop import find_prices
from makespan.reduction.heuristics.symmetry import occupation_of
from makespan.reduction.model import Bools
from makespan.reduction.problem import Reduction

MOST_MACHINES = 512
MOST_AMOUNTS = 3_000
STEPS, MOST_ROUNDS = 30_000_000, 1_000  # in which prices are found
PLAIN_STEPS = 200_000
SUMS = 1e-10  # by which a sum of that many costs may be wrong, at most


def goes_straight(problem: Reduction) -> bool:
    """Whether every segment that is sent is for one machine, from one, and copied only."""
    if problem.segments == "auto" or not 1 < len(problem.machines) <= MOST_MACHINES:
        return False
    if problem.statement.combining or not problem.items:
        return False
    holds, lacks = problem.statement.copied
    sent = lacks.any(axis=0)
    one = (holds.sum(axis=0) == 1) & (lacks.sum(axis=0) == 1)
    return bool(sent.any() and one[sent].all())


@lru_cache(maxsize=8)
def flows(problem: Reduction) -> float:
    """Return the least time of a problem that :func:`goes_straight`, seconds; 0 if not found.

    Complexity: a linear programme of n² columns for each machine that has something, or gets it,
    whichever are fewer; prices of ports where these are more than 3,000.
    """
    demand, count = demand_of(problem), len(problem.machines)
    ends = min(int(demand.any(axis=axis).sum()) for axis in (0, 1))
    if ends * count * (count - 1) > MOST_AMOUNTS:
        return priced_ports(problem, demand) * (1 - SUMS)
    programme = _Programme(problem, demand, ends)
    try:
        programme.programme.solve()
    except Unsolved:
        return 0.0
    return programme.proved() * (1 - ROUNDING)


def demand_of(problem: Reduction) -> Floats:
    """Return what part of all segments each machine (row) has for each other one."""
    holds, lacks = problem.statement.copied
    sent, count = np.flatnonzero(lacks.any(axis=0)), len(holds)
    pair = holds[:, sent].argmax(axis=0) * count + lacks[:, sent].argmax(axis=0)
    units = problem.sizes / problem.sizes.sum()
    table: Floats = np.bincount(pair, units[sent], count**2).astype(float)
    return table.reshape(count, count)


def priced_ports(problem: Reduction, demand: Floats) -> float:
    """Return from when on ports and links are worth the cheapest ways of all segments, seconds.

    That is so at any prices a second: each segment pays for its way, and a port earns from when the
    first can come by it until the last can still get there. Prices grow with what is held.
    Complexity: O(n²) a round for each machine that has something. Source: duality of linear
    programmes; Plotkin, Shmoys and Tardos 1995.
    """
    ways, count = occupation_of(problem), len(demand)
    sources = np.flatnonzero(demand.any(axis=1))
    work = len(sources) * count**2
    rounds = min(MOST_ROUNDS, 1 + STEPS // work)
    form = find_prices.form(work * rounds)
    if is_plain(form):
        rounds = PLAIN_STEPS // work
    unit = float(ways.unit or 1)
    scale = float(ways.lasts.max(initial=0)) * unit * problem.sizes.sum()
    if not scale or not rounds:
        return 0.0
    load, price = np.zeros((2, int(ways.holds.max()) + 1))
    first = np.searchsorted(ways.giver, np.arange(count + 1))
    lasts = ways.lasts / float(ways.lasts.max())
    worth = form(
        first, ways.giver, ways.taker, lasts, ways.holds, sources, demand[sources], load, price,
        rounds,
    )  # fmt: skip
    if not worth:
        return 0.0
    distance = distances(problem, float(problem.sizes.min()), back=False, combining=False)
    begin = distance[sources].min(axis=0)[ways.giver]
    since, left = np.full((2, len(load)), np.inf)
    for held, after in zip(ways.holds.T, ways.after.T * unit, strict=True):
        used = held >= 0
        np.minimum.at(since, held[used], (begin + after)[used])
        np.minimum.at(left, held[used], (ways.latency * unit - after)[used])
    outside = (since + left) / scale
    paid = np.isfinite(outside) & (price > 0)
    order = np.argsort(outside[paid])
    cost, outside, price = worth * price.sum(), outside[paid][order], price[paid][order]
    ends = (cost + np.cumsum(price * outside)) / np.cumsum(price)  # were these all that is held
    return float(np.min(ends) * scale)


class Amounts(ABC):
    """Variables are the time, in units of ``seconds``, and amounts of each layer over each way.

    Amounts are parts of all segments. Layers share ports and links; in the first one, givers
    prepare. ``more`` are variables up to 1 beside them. Ways are those of ``occupation_of``, and
    ``start`` says when each machine can begin at the earliest, seconds.
    """

    def __init__(
        self, problem: Reduction, start: Floats, *, layers: int = 1, more: int = 0
    ) -> None:
        self.ways = ways = occupation_of(problem)
        self.count, self.layers, self.more = len(problem.machines), layers, more
        columns = len(ways.giver)
        unit = float(ways.unit or 1)
        total = float(ways.size.sum()) * unit
        self.seconds = max(float(np.max(ways.lasts)), float(np.max(ways.prepare))) * total or 1.0
        size = 1 + layers * columns + more
        self.programme = CuttingPlanes(np.eye(1, size)[0], [np.inf, *[1.0] * (size - 1)])
        self.size = size
        self.sides: list[tuple[float, float]] = []
        self.factors: list[Floats] = []
        self._ports(start, float(ways.size.min()) * unit, total, unit)

    @abstractmethod
    def need(self, group: Bools) -> float:
        """Return what part of all segments must enter a group."""

    def _ports(self, start: Floats, least: float, total: float, unit: float) -> None:
        """Let no port, unit or shared link be held for longer than there is time for it."""
        ways = self.ways
        begin, last = start[ways.giver], ways.latency * unit
        prepare = ways.prepare if self.layers == 1 else 0 * ways.prepare
        held: dict[int, list[tuple[Any, Any, Any, Any]]] = {}
        for column in range(ways.holds.shape[1]):
            number = ways.holds[:, column]
            since = begin + prepare * least + ways.after[:, column] * unit
            left = last - ways.after[:, column] * unit
            for each in np.unique(number[number >= 0]).tolist():
                used = np.flatnonzero(number == each)
                found = used, ways.lasts[used] * total, since[used], left[used]
                held.setdefault(each, []).append(found)
        for each in np.unique(ways.holds[:, 0]).tolist():
            used = np.flatnonzero(ways.holds[:, 0] == each)
            left = last[used] + ways.lasts[used] * least
            held[-1 - each] = [(used, ways.prepare[used] * total, begin[used], left)]
        for place, parts in held.items():
            used, lasts, since, left = map(np.concatenate, zip(*parts, strict=True))
            if lasts.any():
                outside = 0.0
                layers = self.layers if place >= 0 else 1
                if layers == self.layers and self._must_be_used(used):
                    outside = max(0.0, since.min()) + max(0.0, left.min())
                used = (used + len(begin) * np.arange(layers)[:, None]).ravel()
                lasts = np.tile(lasts, layers)
                self.row(used, -lasts / self.seconds, outside / self.seconds, np.inf, 1.0)

    def _must_be_used(self, used: Any) -> bool:
        """Whether these are all ways to those they lead to, or from those they start at."""
        giver, taker = self.ways.giver, self.ways.taker
        others = np.ones(len(giver), dtype=bool)
        others[used] = False
        inside, outside = np.zeros((2, self.count), dtype=bool)
        inside[taker[used]] = True
        outside[:] = True
        outside[giver[used]] = False
        return any(
            group.any() and self.need(group) > 0
            and not (others & ~group[giver] & group[taker]).any()
            for group in (inside, outside)
        )  # fmt: skip

    def row(self, used: Any, factors: Any, low: float, high: float, time: float) -> None:
        """Add ``low <= time + sum(factors * amounts used) <= high``, with so much of the time."""
        row = np.zeros(self.size)
        row[0], row[1 + used] = time, factors
        held = np.flatnonzero(row)
        self.programme.row(held, row[held], low=low, high=high)
        self.sides.append((low, high))
        self.factors.append(row)

    def proved(self) -> float:
        """Return what the duals of the last solution, as weights, prove by themselves, seconds."""
        weights = self.programme.duals
        table = np.array(self.factors[: len(weights)])
        low, high = np.array(self.sides[: len(weights)]).T
        weights = np.where(np.isfinite(high), weights, np.maximum(weights, 0.0))
        times = weights @ table
        if times[0] <= 0:
            return 0.0
        value = weights @ np.where(weights >= 0, low, np.where(np.isfinite(high), high, 0.0))
        value -= np.maximum(times[1:], 0.0).sum()
        return max(0.0, float(value / times[0])) * self.seconds


class _Programme(Amounts):
    """A layer for each machine that has something, or for each that gets something."""

    def __init__(self, problem: Reduction, demand: Floats, layers: int) -> None:
        self.demand = demand
        distance = distances(problem, float(problem.sizes.min()), back=False, combining=False)
        start = distance[demand.any(axis=1)].min(axis=0)
        super().__init__(problem, start, layers=layers)
        givers = np.flatnonzero(demand.any(axis=1))
        from_each = len(givers) == layers
        giver, taker = self.ways.giver, self.ways.taker
        if not from_each:
            givers, demand, giver, taker = (
                np.flatnonzero(demand.any(axis=0)),
                demand.T,
                taker,
                giver,
            )
        columns = len(giver)
        for layer, end in enumerate(givers.tolist()):
            for machine in range(self.count):
                if machine != end:
                    inward, outward = (np.flatnonzero(side == machine) for side in (taker, giver))
                    used = layer * columns + np.concatenate([inward, outward])
                    signs = np.repeat([1.0, -1.0], [len(inward), len(outward)])
                    self.row(used, signs, float(demand[end, machine]), np.inf, 0.0)

    def need(self, group: Bools) -> float:
        """Return what part of all segments is outside a group, and for machines in it."""
        return float(self.demand[~group][:, group].sum())
