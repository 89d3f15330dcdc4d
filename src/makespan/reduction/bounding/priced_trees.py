"""Priced trees: no prices may let segments earn more than machines and ports are worth.

In a plan that ends by T, each segment grows from where it is first, or complete, over ways that
hold ports. Let each machine pay a price, of either sign, for each segment that it gets, and let a
price, at least 0, be paid for each moment that a port is busy. What each segment earns at most is
found by Bellman's recursion, in time instead of groups, as if it could get to a machine more than
once. All machines pay for what they must get; all ports take no more than their prices from 0 to T,
as each does one thing at a time. So where machines pay more than all segments can earn and all
ports can take, no plan ends by T: a Lagrangian relaxation of trees over time.

- Of an all-reduce, a segment grows two ways from when it is complete: copies forwards, and parts
  backwards. It is complete on a machine no sooner than one segment alone can be reduced to there,
  and so long before the end as one alone takes to all others.
- Segments that one machine alone has begin one after another on its port.
- One segment alone, without prices of ports, bounds how long it takes from each machine.

Who has a segment waits, or sends a copy: then two can send on, the sender when its port is free
again and the taker when the copy is there. So what can be earned from a machine and a moment on
follows from what can be earned later.

Sources: Held and Karp 1971, "The traveling-salesman problem and minimum spanning trees: part II",
prices of what each must be in a tree once; Geoffrion 1974, "Lagrangean relaxation for integer
programming"; Ford and Fulkerson 1958, "Constructing maximal dynamic flows from static flows",
networks over time; Polyak 1969, "Minimization of unsmooth functionals", the length of a step;
Barahona and Anbil 2000, "The volume algorithm", steps by averages of solutions.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers, readonly
from makespan.core.numeric.jit import compiles, loop, part
from makespan.reduction.bounding.growth import ROUNDING
from makespan.reduction.bounding.one_segment import one_segment
from makespan.reduction.bounding.packing import spans, spans_both_ways
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import tables_of

MOMENTS, LONGEST = 160, 320  # into which the known bound is divided, and those looked at, at most
NEVER = 2 * LONGEST  # moments that no send takes which counts
STEPS, STEPS_ALONE = 40_000_000, 30_000_000  # of the loop: a tenth of a second for 10 million
TRIES, TRIES_ALONE = 1_500, 80  # in a row for one end
FEWEST = 300  # changes of prices; fewer prove nothing
PATIENCE, PATIENCE_ALONE = 150, 20
PACE = 0.7
SHARE = 0.5  # of what a machine pays, which its quickest way pays for a port at first
SURE = -1e-8  # times all that is paid: what is below it isn't a matter of rounding
AVERAGED, SHORTER, AIM = 0.1, 0.7, 0.5
NOBODY = -1


@part
def _rank(whom, half, machine, at, other):  # type: ignore[no-untyped-def]
    """Return which way on from a machine is the best that doesn't begin with a send to another."""
    return 1 if whom[half, 0, machine, at] == other else 0


@part
def _earn(half, lag, lasts, period, work, cover, spent, value, whom, soon):  # type: ignore[no-untyped-def]
    """Find what can be earned from each machine and moment on, and to whom it sends then.

    Of each there are two ways on, which begin with sends to different takers.
    """
    machines, horizon = cover.shape[1], value.shape[3] - 1
    for at in range(horizon, -1, -1):
        for giver in range(machines):
            best = second = 0.0
            one = two = NOBODY
            if at < horizon:
                best, one = value[half, 0, giver, at + 1], whom[half, 0, giver, at + 1]
                second, two = value[half, 1, giver, at + 1], whom[half, 1, giver, at + 1]
            now = then = False
            since = at + work[half, giver]
            for taker in range(machines):
                long = lasts[half, giver, taker]
                there = since + lag[half, giver, taker]
                if long <= 0 or there + long > horizon:
                    continue
                free = min(at + period[half, giver, taker], horizon)
                earned = value[half, _rank(whom, half, giver, free, taker), giver, free]
                got = there + long
                earned += value[half, _rank(whom, half, taker, got, giver), taker, got]
                earned += cover[half, taker]
                if earned <= second:  # before it pays for ports
                    continue
                earned -= spent[half, 0, giver, since + long] - spent[half, 0, giver, since]
                earned -= spent[half, 1, taker, got] - spent[half, 1, taker, there]
                if earned > best:
                    if taker != one:
                        second, two, then = best, one, now
                    best, one, now = earned, taker, True
                elif taker != one and earned > second:
                    second, two, then = earned, taker, True
            value[half, 0, giver, at], whom[half, 0, giver, at] = best, one
            value[half, 1, giver, at], whom[half, 1, giver, at] = second, two
            soon[half, 0, giver, at], soon[half, 1, giver, at] = now, then


@part
def _send(half, lag, lasts, period, work, whom, soon, tokens, covered, load):  # type: ignore[no-untyped-def]
    """Let all segments grow as they earn most; count who gets them, and when ports begin or end."""
    machines, horizon = whom.shape[2], whom.shape[3] - 1
    for at in range(horizon):
        for giver in range(machines):
            for rank in range(2):
                count, taker = tokens[half, rank, giver, at], whom[half, rank, giver, at]
                if count <= 0 or taker == NOBODY:
                    continue
                if not soon[half, rank, giver, at]:
                    same = 0 if whom[half, 0, giver, at + 1] == taker else 1
                    tokens[half, same, giver, at + 1] += count
                    continue
                long, since = lasts[half, giver, taker], at + work[half, giver]
                there = since + lag[half, giver, taker]
                free, got = min(at + period[half, giver, taker], horizon), there + long
                tokens[half, _rank(whom, half, giver, free, taker), giver, free] += count
                tokens[half, _rank(whom, half, taker, got, giver), taker, got] += count
                covered[half, taker] += count
                load[half, 0, giver, since] += count
                load[half, 0, giver, since + long] -= count
                load[half, 1, taker, there] += count
                load[half, 1, taker, got] -= count


@part
def _best_home(value, cover, window):  # type: ignore[no-untyped-def]
    """Return where and when a segment is best complete, and what it earns both ways."""
    horizon = value.shape[3] - 1
    home, when, best = NOBODY, 0, 0.0
    for machine in range(value.shape[2]):
        for at in range(window[0, machine], horizon - window[1, machine] + 1):
            earned = cover[0, machine] + cover[1, machine]
            earned += value[0, 0, machine, at] + value[1, 0, machine, horizon - at]
            if home == NOBODY or earned > best:
                home, when, best = machine, at, earned
    return home, when, best


@part
def _raise_least(value, cover, least):  # type: ignore[no-untyped-def]
    """Raise the least time of one segment from each machine, where it can't pay for all others."""
    horizon = value.shape[3] - 1
    for machine in range(len(least)):
        due, sums = -cover[0, machine], 1.0
        for other in range(len(least)):
            due += cover[0, other]
            sums += abs(cover[0, other])
        while least[machine] <= horizon:
            if value[0, 0, machine, horizon - least[machine]] - due >= SURE * sums:
                break
            least[machine] += 1


@part
def _add_loads(load, prices, average):  # type: ignore[no-untyped-def]
    """Average what ports have left at each moment; return the squares of what may change prices."""
    machines, horizon = prices.shape[1], prices.shape[2]
    norm = 0.0
    for half in range(len(load)):
        for port in range(2):
            for machine in range(machines):
                busy = 0.0
                for at in range(horizon):
                    busy += load[half, port, machine, at]
                    load[half, port, machine, at] = busy
    for port in range(2):
        for machine in range(machines):
            for at in range(horizon):
                left = 1.0 - load[0, port, machine, at]
                if len(load) == 2:
                    left -= load[1, 1 - port, machine, horizon - 1 - at]
                average[port, machine, at] += AVERAGED * (left - average[port, machine, at])
                if left < 0 or prices[port, machine, at] > 0:
                    norm += left**2
    return norm


@part
def _change_prices(prices, average, length):  # type: ignore[no-untyped-def]
    """Lower the prices of ports that have room, but not below 0, and raise those of others."""
    ports, machines, horizon = prices.shape
    for port in range(ports):
        for machine in range(machines):
            for at in range(horizon):
                changed = prices[port, machine, at] - length * average[port, machine, at]
                prices[port, machine, at] = max(changed, 0.0)


@loop(pays_from=100_000)
def price(  # type: ignore[no-untyped-def]
    lag, lasts, period, work, wanted, starts, window, segments, cover, prices, pace, patience,
    tries, least,
):  # fmt: skip
    """Change prices until segments can't pay; return what they have left, and how many tries.

    What is left is below 0 where no plan ends by the horizon, and only then.

    A half is of copies, or of parts in reversed time; of two, the second is reversed.

    - ``lag``, ``lasts``, ``period``: (half, giver, taker) Latency; how long a send holds both
      ports, 0 for no link; until the giver can begin with the next. Whole numbers of time.
    - ``work``: (half, machine) What the giver spends before it.
    - ``wanted``: (half, machine) How many segments each machine must get or, of two halves, has.
    - ``starts``: (k, 2) Of one half, the machine and moment from which each segment grows.
    - ``window``: (2, machine) Of two halves, the first moment at which a segment can be complete on
      a machine, and for how long before the end at the latest.
    - ``segments``: Of two halves, their number.
    - ``cover``, ``prices``: (half, machine), (2, machine, moment) Prices of machines, and of ports
      for sending and for taking, in the time of the first half; they are changed.
    - ``pace``: How much prices of ports change beside those of machines; 0 keeps them.
    - ``patience``, ``tries``: Steps that don't help until they are made shorter, and in all.
    - ``least``: (machine) Of one half and segment without prices of ports: raised where proved.

    Complexity: O(n² T) a try, for T moments.
    """
    halves, machines = wanted.shape
    horizon = prices.shape[2]
    spent = np.zeros((halves, 2, machines, horizon + 1))
    load, load_average = np.zeros_like(spent), np.zeros_like(prices)
    value, tokens = np.zeros_like(spent), np.zeros_like(spent)
    whom, soon = np.zeros(spent.shape, np.int64), np.zeros(spent.shape, np.bool_)
    covered, cover_average = np.zeros((halves, machines)), np.zeros((halves, machines))
    kept_cover, kept_prices = cover.copy(), prices.copy()
    best, step, stale, some = np.inf, 1.0, 0, 0
    for half in range(halves):
        for machine in range(machines):
            some += wanted[half, machine] > 0
    for turn in range(tries):
        found, sums = 0.0, 1.0
        for half in range(halves):
            for machine in range(machines):
                found -= wanted[half, machine] * cover[half, machine]
                sums += (1.0 + wanted[half, machine]) * abs(cover[half, machine])
                for port in range(2):
                    for at in range(horizon):
                        paid = prices[port, machine, at]
                        if half == 1:
                            paid = prices[1 - port, machine, horizon - 1 - at]
                        spent[half, port, machine, at + 1] = spent[half, port, machine, at] + paid
                    if half == 0:
                        found += spent[0, port, machine, horizon]
                        sums += spent[0, port, machine, horizon]
            _earn(half, lag, lasts, period, work, cover, spent, value, whom, soon)
        tokens[:] = 0.0
        covered[:] = 0.0
        load[:] = 0.0
        if halves == 2:
            home, when, earned = _best_home(value, cover, window)
            if home == NOBODY:
                return -np.inf, turn
            found += segments * earned
            for half in range(2):
                at = horizon - when if half else when
                tokens[half, 0, home, at] = covered[half, home] = segments
        for row in range(len(starts)):
            found += value[0, 0, starts[row, 0], starts[row, 1]]
            tokens[0, 0, starts[row, 0], starts[row, 1]] += 1.0
        if len(least) > 0:
            _raise_least(value, cover, least)
        if found < SURE * sums:
            return found, turn + 1
        if found < best - 1e-3:
            best, stale = found, 0
            np.positive(cover, kept_cover)
            np.positive(prices, kept_prices)
        else:
            stale += 1
        if stale >= patience:
            step, stale = step * SHORTER, 0
            np.positive(kept_cover, cover)
            np.positive(kept_prices, prices)
            cover_average[:] = 0.0
            load_average[:] = 0.0
            continue
        norm = total = mean = 0.0
        for half in range(halves):
            _send(half, lag, lasts, period, work, whom, soon, tokens, covered, load)
            for machine in range(machines):
                more = covered[half, machine] - wanted[half, machine]
                cover_average[half, machine] += AVERAGED * (more - cover_average[half, machine])
                norm += more**2
                if wanted[half, machine] > 0:
                    total += more
                    mean += cover_average[half, machine] / some
        norm -= total**2 / some
        if pace > 0:
            norm += pace * _add_loads(load, prices, load_average)
        if norm < 1e-9:  # all get what they must, and no port is used twice: no prices earn less
            break
        length = step * (found + AIM) / norm
        for half in range(halves):
            for machine in range(machines):
                cover[half, machine] -= length * cover_average[half, machine]
                if wanted[half, machine] > 0:  # the sum of their prices stays
                    cover[half, machine] += length * mean
        if pace > 0:
            _change_prices(prices, load_average, length * pace)
    return max(best, 0.0), turn + 1


class Half(NamedTuple):
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
    found = halves_of(problem, known)
    if found is None or not (compiles() and price.pays(STEPS)):
        return 0.0
    halves, moment = found
    if len(halves) * len(problem.machines) ** 2 * known / moment * FEWEST > STEPS:
        return 0.0
    search = _Search(problem, halves, moment)
    horizon = search.one_way() if problem.statement.one_way else search.both_ways()
    return horizon * moment * (1 - ROUNDING)


def halves_of(problem: Reduction, known: float) -> tuple[list[Half], float] | None:
    """Return the halves of a problem, and how long a moment is, seconds.

    Times are rounded down to moments, so that no plan gets longer. None where not all machines have
    a part in all segments, or some send takes no moment. ``known`` is a bound, seconds.
    """
    if problem.ports is not None or known <= 0 or not (spans(problem) or spans_both_ways(problem)):
        return None
    machines = len(problem.machines)
    linked = ~np.eye(machines, dtype=bool) if problem.links is None else problem.links
    tables = tables_of(problem).over(machines)
    least, each = tables.size.min(), known / MOMENTS
    times: Any = tables.latency, tables.transfer * least, tables.reduce * least
    if tables.unit is None:
        moment = each
        times = [np.floor(table / moment * (1 - ROUNDING)) for table in times]
    else:
        count = max(1, round(each / float(tables.unit)))
        moment = float(tables.unit * count)
        times = [table // count for table in times]
    lag, lasts, work = (np.minimum(table, NEVER) for table in times)
    lag, lasts = (np.where(linked, table, 0).astype(np.int64) for table in (lag, lasts))
    if (lasts[linked] <= 0).any():
        return None
    work = work.astype(np.int64)
    copies = Half(lag, lasts, lasts, np.zeros_like(work))
    # a unit that is slower than all ways makes the pace; one that is slower than some need not
    slow = work >= lasts.max(axis=0)
    parts = Half(lag.T, lasts.T, np.where(slow[:, None], work[:, None], lasts.T), work)
    if not problem.statement.combining:
        return [copies], moment
    return ([parts] if problem.statement.one_way else [copies, parts]), moment


class _Search:
    """The search for prices; all times are in moments."""

    def __init__(self, problem: Reduction, halves: list[Half], moment: float) -> None:
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
        no_starts = np.zeros((0, 2), dtype=np.int64)
        return self._proved(least, wanted, no_starts, np.array([there, spread]))

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

    def _alone(self, half: Half, back: bool) -> Integers:
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
        if not 0 < horizon <= LONGEST:  # no moment has a price, or too many would
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
            if value >= 0:
                break
            left -= once * turns
            horizon += 1
            prices = np.insert(prices, horizon // 2, prices[:, :, horizon // 2], axis=2)
        return horizon

    def _price(
        self, halves: list[Half], wanted: Floats, starts: Integers, window: Integers, *changed: Any
    ) -> tuple[float, int]:
        """Change prices; return what the loop returns."""
        columns = (np.stack([half[place] for half in halves]) for place in range(4))
        given = readonly(*columns, wanted, starts, window)
        return price.at(STEPS)(*given, float(self.problem.items), *changed)  # type: ignore[no-any-return]

    @property
    def _no_window(self) -> Integers:
        return np.zeros((2, self.count), dtype=np.int64)
