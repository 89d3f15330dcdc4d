"""One round as a linear relaxation: the time of the port and the budget have prices.

A plan by the time T sends to worker j from p to e = p + C + c x, with x units that are computed by
T and by the worker's deadline, after its release, and fit into its memory. What keeps the workers
apart is the port alone: no two sends at a time. With a price lambda(t) >= 0 of the port's time and
a price mu >= 0 of money, in units of load, the load of any plan by T is at most

    integral of lambda over [0, T] + mu B
        + sum_j max over p and x of [x - integral of lambda over [p, e] - mu (f + g x)],

where a worker that is not used counts 0 (Lagrange relaxation; its best bound is that of the
time-indexed programme, a column for each worker and start, which these maxima price out). If that
is less than the load, no plan ends by T.

Prices that fall with time, as they do here, make the maxima simple: for a given start the bracket
is convex in x, so x is 0 or all that fits, and of a chunk that something else than T limits the
latest start is best. The rest is linear between the times at which p or e enters another piece.
Of whole units every number is tried, at the latest start for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers, readonly
from makespan.core.numeric.jit import loop
from makespan.divisible.problem import DivisibleLoad

ROUNDING = 1e-9  # relative: what sums over workers may lose
UNUSED = -1.0
MANY_UNITS = 4  # for each part of the time: beyond, whole units are as good as any
ALMOST = 1e-9  # units: a chunk this much short of a whole one is one


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prices:
    """Prices of the port's time and of money."""

    port: Floats  # (G,): units of load a second in G equal parts of [0, T], non-increasing
    money: float = 0.0  # units of load for all of the budget

    def within(self, before: float, end: float) -> Prices:
        """Return the prices for another end: as much for the whole of the port's time."""
        return replace(self, port=self.port * (before / end))

    def refined(self, parts: int) -> Prices:
        """Return the same prices with each part cut into so many."""
        return replace(self, port=np.repeat(self.port, parts))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Priced:
    """What prices say of an end."""

    most: float  # no plan does more by the end, units
    # (G,): which share of each part of the port's time is left, less than 0 where several workers
    # want it
    idle: Floats
    unspent: float  # which share of the budget is left
    start: Floats  # (n,): when the best send of each worker starts, -1 where it is not used


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Relaxation:
    """The workers of a problem, or some of them that stand for all."""

    problem: DivisibleLoad  # one round, one port, no returns, a master that is given
    workers: Integers  # those that are looked at
    weight: float = 1.0  # how many workers each of them stands for

    def at(self, end: float, prices: Prices) -> Priced:
        """Return what the prices say of the plans that end by ``end``. Complexity: O(n + n G)."""
        problem, star, workers = self.problem, self.problem.star, self.workers
        parts, budget = len(prices.port), problem.budget
        edge = np.linspace(0.0, end, parts + 1)
        worth = np.concatenate([[0.0], np.cumsum(prices.port * np.diff(edge))])
        last = np.minimum(star.deadline[workers], end)
        start_up, total = star.compute_fixed[workers], star.compute_per_unit[workers]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            room = last - star.release[workers] - start_up
            by_window = np.where(
                room >= 0.0, np.nan_to_num(room / total, nan=np.inf, posinf=np.inf), -1.0
            )
            rate = prices.money / budget if budget else 0.0
            fee = star.price_fixed[workers] * rate
            gain = 1.0 - star.price_per_unit[workers] * rate
        most = np.minimum(star.memory[workers], by_window)
        if problem.load is not None:
            most = np.minimum(most, problem.load)
        if budget == 0.0:
            dear = (star.price_fixed > 0.0) | (star.price_per_unit > 0.0)
            most[dear[workers]] = -1.0
        start, amount, used = np.empty(len(workers)), np.zeros(len(workers)), np.zeros(parts)
        found = _best_starts.at(len(workers) * parts)(
            *readonly(
                edge, prices.port, worth, star.send_fixed[workers], star.send_per_unit[workers],
                last - star.send_fixed[workers] - start_up, total, most, gain, fee,
            ),
            problem.use == "all", problem.integral, start, amount, used,
        )  # fmt: skip
        spent = 0.0
        if budget:
            cost = star.price_fixed[workers] * (start >= 0) + star.price_per_unit[workers] * amount
            spent = self.weight * float(cost.sum()) / budget
        load = float(worth[-1]) + prices.money + self.problem.own_by(end)
        return Priced(
            most=load + self.weight * found,
            idle=1.0 - self.weight * used / (end / parts),
            unspent=1.0 - spent,
            start=start,
        )

    def excludes(self, end: float, prices: Prices) -> bool:
        """Whether the prices show that no plan ends by ``end``, beyond what rounding may do."""
        return self.at_most(end, prices, self.at(end, prices)) < self.problem.total

    def at_most(self, end: float, prices: Prices, priced: Priced) -> float:
        """Return a load that no plan exceeds by ``end``, with what rounding may do."""
        assert self.weight == 1.0
        rounding = ROUNDING + 4e-16 * len(self.workers) * len(prices.port)
        scale = (self.problem.load or 0.0) + prices.money
        scale += float(prices.port.sum()) * end / len(prices.port)
        return priced.most + rounding * max(scale, abs(priced.most))


@loop(pays_from=200)  # pairs of a worker and a part of the time
def _best_starts(  # type: ignore[no-untyped-def]
    edge, price, worth, latency, send, last, compute, most, gain, fee, everyone, integral,
    start, amount, used,
):  # fmt: skip
    """Fill in the best start and amount of each worker, and the port's time used in each part.

    A send that starts at p brings ``(last - p) / (c + w)`` units. Returns the sum of the maxima.
    """
    parts, done = len(price), 0.0
    for j in range(len(send)):
        start[j] = UNUSED
        per_unit, latest = send[j] + compute[j], last[j]
        if latest < 0.0 or most[j] < 0.0:
            if everyone:
                return -np.inf
            continue
        if per_unit <= 0.0:
            return np.inf
        p = max(0.0, latest - most[j] * per_unit) if gain[j] > 0.0 else latest
        x = (latest - p) / per_unit
        whole = integral and x <= MANY_UNITS * parts
        if whole:
            x = np.floor(x + ALMOST)
        here, there = 0, 0
        best = -np.inf if everyone else 0.0
        while True:
            if whole:  # the latest start that leaves time for so many
                p = max(0.0, latest - x * per_unit)
            else:
                x = (latest - p) / per_unit
            e = p + latency[j] + send[j] * x
            while here < parts - 1 and edge[here + 1] <= p:
                here += 1
            while there < parts - 1 and edge[there + 1] <= e:
                there += 1
            paid = worth[there] + price[there] * (e - edge[there])
            paid -= worth[here] + price[here] * (p - edge[here])
            value = gain[j] * x - paid - fee[j]
            if value > best:
                best, start[j], amount[j] = value, p, x
            if x <= 0.0 or p >= latest:
                break
            if whole:
                x -= 1.0
                continue
            enters = edge[here + 1] if here < parts - 1 else np.inf
            leaves = np.inf
            if there < parts - 1 and compute[j] > 0.0:
                leaves = p + (edge[there + 1] - e) * per_unit / compute[j]
            if min(enters, leaves) >= latest:
                p = latest
            elif enters <= leaves:
                p, here = enters, here + 1
            else:
                p, there = max(p, leaves), there + 1
        if start[j] == UNUSED:
            continue
        done += best
        p, x = start[j], amount[j]
        e = p + latency[j] + send[j] * x
        part = min(int(p / edge[-1] * parts), parts - 1)
        while part < parts and edge[part] < e:
            used[part] += max(0.0, min(e, edge[part + 1]) - max(p, edge[part]))
            part += 1
    return done


PATIENCE = 6
LEAST_STEP = 0.05
BETTER = 1e-6


def descent(
    relaxation: Relaxation, end: float, prices: Prices, target: float
) -> Iterator[tuple[Prices, Priced]]:
    """Yield prices and what they say of ``end``, from the given ones on, until steps are small.

    Each step goes against the idle time of the port and what is left of the budget, as far as would
    lead to the load ``target`` if the bound were linear, projected on prices that fall with time.
    After steps in vain it starts again from the best prices, half as far. Source: B. Polyak,
    Minimization of unsmooth functionals, USSR Computational Mathematics and Mathematical Physics 9
    (1969); M. Held, P. Wolfe and H. Crowder, Validation of subgradient optimization, Mathematical
    Programming 6 (1974).
    """
    step, vain = 1.0, 0
    best: tuple[Prices, Priced] | None = None
    while step >= LEAST_STEP:
        priced = relaxation.at(end, prices)
        yield prices, priced
        if not np.isfinite(priced.most):
            return
        if best is None or priced.most < best[1].most * (1 - BETTER):
            best, vain = (prices, priced), 0
        else:
            vain += 1
        if vain == PATIENCE:
            step, vain = step / 2.0, 0
            prices, priced = best
        unspent = priced.unspent if relaxation.problem.budget else 0.0
        length = float(np.mean(priced.idle**2)) + unspent**2
        if length == 0.0:
            return
        far = step * max(0.0, priced.most - target) / length
        prices = replace(
            prices,
            port=falling(prices.port - far / end * priced.idle),
            money=max(0.0, prices.money - far * unspent),
        )


def falling(values: Floats) -> Floats:
    """Return the nearest numbers, by the sum of squares, that are 0 or more and never rise.

    Source: pooling of neighbours (M. Ayer et al., An empirical distribution function for sampling
    with incomplete information, Annals of Mathematical Statistics 26, 1955).

    >>> falling(np.array([1.0, 3.0, -1.0])).tolist()
    [2.0, 2.0, 0.0]
    """
    means: list[float] = []
    sizes: list[int] = []
    for value in values.tolist():
        mean, size = value, 1
        while means and means[-1] < mean:
            mean = (means[-1] * sizes[-1] + mean * size) / (sizes[-1] + size)
            size += sizes.pop()
            means.pop()
        means.append(mean)
        sizes.append(size)
    fitted: Floats = np.maximum(0.0, np.repeat(means, sizes))
    return fitted
