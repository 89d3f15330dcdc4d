"""Class trees: where machines come in a few classes, trees count how many of each they reach.

In a plan that ends by T, each segment grows along a tree that comes to every machine once. Of
machines that are alike only the number matters: racks, and who has segments first, are classes. Let
a moment at a port of a class have a price. Which tree costs least is found by how many of each
class are still to be reached, and how they are divided between who gives and who takes: Bellman's
recursion over numbers and moments. A class has as many ports as machines, each of which does one
thing at a time. So no plan ends by T where all segments, by their cheapest trees, cost more than
all ports from 0 to T. Prices that show this are those of a linear programme to which the cheapest
trees are added one after another, between those of its solution and the best so far.

Of an all-reduce, a segment has two trees, from where and when it is complete: copies go forwards,
parts come from the other direction of time.

Sources: Dantzig and Wolfe 1960, "Decomposition principle for linear programs", a column for each
tree; Kelley 1960, cutting planes, here of its dual; Ben-Ameur and Neto 2007, "Acceleration of
cutting-plane and column generation algorithms", prices between two.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from makespan.backends.repeated import CuttingPlanes, Unsolved
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import compiles, loop
from makespan.reduction.bounding.classes import Groups, classes_of, divisions, least
from makespan.reduction.bounding.growth import ROUNDING
from makespan.reduction.bounding.priced_trees import LONGEST, NEVER, Half, halves_of
from makespan.reduction.problem import Reduction

STEPS = 300_000_000  # of the loop, in all: a tenth of a second for 100 million
COLUMNS = 20_000  # of the programme, moments of classes, times how often it is solved
FEWEST, MOST_TURNS = 20, 150  # changes of prices; where fewer are in reach, none is tried
TOWARDS = 0.4  # how far prices go from the best so far to those of the programme
TREES = 5  # that are added at once, about
PAID = 1 + 1e-7  # times what all ports cost, about 1: more is no matter of rounding
NO_TREE = 1e17
ANYWHERE = -1  # instead of a class at which segments begin


@loop(pays_from=100_000)
def price_trees(  # type: ignore[no-untyped-def]
    parts, first, without, lag, lasts, work, sending, taking, cost, choice
):
    """Find what the cheapest trees cost that reach a group from a class and a moment on.

    - ``parts``: (division,) Groups whom the taker informs of those that are left; the giver informs
      the rest, whose number is the difference. ``first``: (group + 1,) where those of each begin.
    - ``without``: (group, class) The group with one of a class less, -1 for none.
    - ``lag``, ``lasts``: (giver, taker) Latency, and how long a send holds ports, 0 for no link.
    - ``work``: (class,) What the giver spends before it.
    - ``sending``, ``taking``: (class, T + 1) What ports cost up to each moment.
    - ``cost``, ``choice``: (group, class, T + 1) Filled: of nobody, cost is 0; the taker times the
      number of divisions, and the division, of a send at that moment, or -1 to wait.

    Complexity: O(k² T) a division, for k classes.
    """
    groups, classes, horizon = cost.shape[0], cost.shape[1], cost.shape[2] - 1
    for at in range(horizon, -1, -1):
        for group in range(1, groups):
            for giver in range(classes):
                best, chosen = NO_TREE, -1
                if at < horizon:
                    best = cost[group, giver, at + 1]
                since = at + work[giver]
                for taker in range(classes):
                    rest, long = without[group, taker], lasts[giver, taker]
                    there = since + lag[giver, taker]
                    got = there + long
                    if rest < 0 or long <= 0 or got > horizon:
                        continue
                    paid = sending[giver, since + long] - sending[giver, since]
                    paid += taking[taker, got] - taking[taker, there]
                    free = at + long  # a unit may have worked before: it isn't counted here
                    for place in range(first[rest], first[rest + 1]):
                        part = parts[place]
                        both = cost[part, taker, got] + cost[rest - part, giver, free]
                        if paid + both < best:
                            best, chosen = paid + both, taker * len(parts) + place
                cost[group, giver, at] = best
                choice[group, giver, at] = chosen


class _Priced(NamedTuple):
    """A half, its prices up to each moment, and what trees cost then."""

    lag: Integers
    lasts: Integers
    work: Integers
    sending: Floats
    taking: Floats
    cost: Floats
    choice: Integers


@lru_cache(maxsize=8)
def class_trees(problem: Reduction, known: float) -> float:
    """Return the bound of a collective that all machines have a part in, seconds.

    ``known`` is another bound, seconds; 0 is returned where none above it is found. Complexity:
    O(k² T) for each division of each group, and a linear programme of 2 k T columns, for each of
    150 changes of prices, for k classes and T moments; 300 million steps at most, and none where
    the loop isn't compiled.
    """
    found = halves_of(problem, known)
    if found is None or not (compiles() and price_trees.pays(STEPS)):
        return 0.0
    (halves, moment), count = found, len(problem.machines)
    own = np.zeros(count)
    if problem.statement.one_way:
        holds, lacks = problem.statement.copied
        if (holds.sum(axis=0) != 1).any():
            return 0.0
        own = (holds & lacks.any(axis=0)).sum(axis=1).astype(float)
    horizon = max(1, int(known * (1 + 4 * ROUNDING) / moment))
    times = [np.where(halves[0].lasts > 0, table, NEVER) for table in halves[0][:2]]
    holders = np.broadcast_to(2 * NEVER * own[:, None], (count, count))
    classes = classes_of([*times, holders], np.inf)
    sizes = np.array([len(machines) for machines in classes])
    steps = len(halves) * divisions(sizes) * horizon
    turns = int(min(MOST_TURNS, STEPS / steps, COLUMNS / (len(sizes) * horizon)))
    if turns < FEWEST:
        return 0.0
    begin = {one: int(own[machines].sum()) for one, machines in enumerate(classes)}
    kinds = {one: number for one, number in begin.items() if number} or {ANYWHERE: problem.items}
    search = _Search([_joined(half, classes) for half in halves], sizes, kinds)
    first = search.first_end(horizon, turns)
    return first * moment * (1 - ROUNDING) if first > horizon else 0.0


def _joined(half: Half, classes: list[Integers]) -> tuple[Integers, Integers, Integers]:
    """Return latencies, times of sends and work between classes: the least of their machines."""
    tables = (np.where(half.lasts > 0, table, NEVER) for table in (half.lag, half.lasts))
    lag, lasts = (least(table, classes).astype(np.int64) for table in tables)
    work = np.array([half.work[machines].min() for machines in classes])
    return lag, np.where(lasts < NEVER, lasts, 0), work


class _Search:
    """The search for prices: of a moment at each port, of both directions and all classes.

    ``kinds`` is how many segments begin at each class; those of an all-reduce, anywhere.
    """

    def __init__(self, halves: list[Any], sizes: Integers, kinds: dict[int, int]) -> None:
        self.halves, self.sizes, self.kinds = halves, sizes, kinds
        self.groups = Groups.of(sizes)
        ports = np.broadcast_to(sizes[None, :, None], (2, len(sizes), LONGEST))
        self.shape = ports.shape
        self.counts = np.array([*kinds.values()], dtype=float)
        self.objective = np.concatenate([-self.counts, np.zeros(ports.size)])
        self.programme = CuttingPlanes(self.objective, self._limits(1))
        columns = len(kinds) + np.arange(ports.size)
        self.programme.row(columns, ports.ravel().astype(float), low=1.0, high=1.0)

    def _limits(self, horizon: int) -> Floats:
        """Return how much each kind of segment, and each moment, may cost."""
        later = np.arange(LONGEST) >= horizon
        moments = np.broadcast_to(np.where(later, 0.0, np.inf), self.shape)
        return np.concatenate([2 * PAID / self.counts, moments.ravel()])

    def first_end(self, horizon: int, turns: int) -> int:
        """Return the first end that can't be excluded, from a bound on."""
        best, price = 0.0, np.zeros(self.shape)
        price[:, :, :horizon] = 1.0 / (2 * self.sizes.sum() * horizon)
        kept = price
        self.programme.change_objective(self.objective, self._limits(horizon))
        for _ in range(turns):
            value, trees = self._cheapest(price[:, :, :horizon])
            if value > PAID * float(self.sizes @ price.sum(axis=(0, 2))):
                horizon, best = horizon + 1, 0.0
                if horizon == LONGEST:
                    break
                self.programme.change_objective(self.objective, self._limits(horizon))
                continue
            if value > best:
                best, kept = value, price
            for kind, used in trees:
                columns = np.flatnonzero(used)
                factors = [1.0, *-used[columns]]
                self.programme.row([kind, *(len(self.kinds) + columns)], factors, high=0.0)
            try:
                values = self.programme.solve()
            except Unsolved:
                break
            costs, prices = np.split(values, [len(self.kinds)])
            if costs @ self.counts <= PAID:
                break
            prices = np.maximum(prices, 0.0).reshape(self.shape)
            price = TOWARDS * prices + (1 - TOWARDS) * kept
        return horizon

    def _cheapest(self, price: Floats) -> tuple[float, list[tuple[int, Floats]]]:
        """Return what all segments cost at least, and trees with the moments that they use."""
        horizon, classes = price.shape[2], len(self.sizes)
        found: list[_Priced] = []
        for lag, lasts, work in self.halves:
            upto = np.zeros((2, classes, horizon + 1))
            np.cumsum(price[::-1, :, ::-1] if found else price, axis=2, out=upto[:, :, 1:])
            cost = np.zeros((len(self.groups.without), *upto.shape[1:]))
            choice = np.zeros(cost.shape, dtype=np.int64)
            half = _Priced(lag, lasts, work, upto[0], upto[1], cost, choice)
            price_trees.at(STEPS)(*self.groups, *half)
            found.append(half)
        total, trees = 0.0, []
        for kind, (home, count) in enumerate(self.kinds.items()):
            offers = []
            for one in range(classes) if home == ANYWHERE else (home,):
                group = int(self.groups.without[-1, one])  # all others
                costs = found[0].cost[group, one]
                if len(found) > 1:
                    costs = costs + found[1].cost[group, one, ::-1]
                order = np.argsort(costs, kind="stable")[:TREES].tolist()
                offers += [(float(costs[at]), (group, one, at)) for at in order]
            offers = sorted(offers)[: 1 + TREES // (len(self.kinds) + 1)]
            total += count * offers[0][0]
            for paid, (group, one, at) in offers:
                if paid < NO_TREE:
                    used = np.zeros(self.shape)
                    view = used[:, :, :horizon]
                    self._use(view, found[0], (group, one, at))
                    if len(found) > 1:
                        self._use(view[::-1, :, ::-1], found[1], (group, one, horizon - at))
                    trees.append((kind, used.ravel()))
        return total, trees

    def _use(self, used: Floats, half: _Priced, start: tuple[int, int, int]) -> None:
        """Count the moments at which a cheapest tree uses the ports of each class."""
        parts, open_ = self.groups.parts, [start]
        while open_:
            group, giver, at = open_.pop()
            if not group:
                continue
            at += int((half.choice[group, giver, at:] >= 0).argmax())
            taker, place = divmod(int(half.choice[group, giver, at]), len(parts))
            since, long = at + half.work[giver], half.lasts[giver, taker]
            there, part = since + half.lag[giver, taker], parts[place]
            used[0, giver, since : since + long] += 1.0
            used[1, taker, there : there + long] += 1.0
            rest = self.groups.without[group, taker] - part
            open_ += [(part, taker, there + long), (rest, giver, at + long)]
