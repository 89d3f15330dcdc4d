"""Lower bounds for few chunks a worker that take longer beyond some sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.divisible.problem import DivisibleLoad

BISECTIONS = 100


def has_beyond_bound(problem: DivisibleLoad) -> bool:
    """Whether chunks are few enough to be long: in any number of rounds they are short."""
    if not problem.is_star or not problem.star.beyond or problem.chooses_master:
        return False
    return problem.loads is None and (problem.rounds != "auto" or problem.given_sends is not None)


def beyond_bound(problem: DivisibleLoad, least: float) -> float:
    """Return a lower bound on the makespan of a star whose workers get few chunks, seconds.

    In R chunks a worker computes x units in no less than R w(x / R), as w is convex; on each piece
    of w, a line W_l + w_l x, that is W + R (W_l - W) + w_l x. In one chunk it has received them
    before, and returns them behind. So by T it does no more than some x_j(T), and with the port the
    load is at most

        max {sum x_j : x_j <= x_j(T), sum c_j x_j <= T},

    to which those who are cheapest for the port come first. The least T at which the load fits is
    found by bisection from ``least``, a bound that is known. Complexity: O(n log n), and O(n) a
    step.
    """
    star, count = problem.star, len(problem.star)
    chunks = np.full(count, float(problem.rounds) if problem.rounds != "auto" else 0.0)
    if problem.given_sends is not None:
        chunks = np.bincount(problem.workers_in(problem.given_sends), minlength=count) * 1.0
    beyond = star.beyond.lines(star.compute_fixed, star.compute_per_unit)
    affine = (star.compute_fixed, star.compute_per_unit, np.full(count, True))
    transfers = np.where(chunks <= 1, star.send_per_unit + star.return_per_unit, 0.0)
    start = star.send_fixed + star.compute_fixed + star.return_fixed
    pieces = [
        (start + chunks * (fixed - star.compute_fixed), transfers + per_unit, there)
        for fixed, per_unit, there in (affine, *beyond)
    ]
    port = star.send_per_unit + star.return_per_unit if problem.ports == 1 else star.send_per_unit
    by_port = np.argsort(port, kind="stable")
    uplink = getattr(star.master, "uplink", None)

    def done(end: float) -> float:
        most = _most_alone(pieces, end)
        most[chunks == 0] = 0.0
        if problem.ports == "many":
            load = float(most.sum())
            load = load if uplink is None else min(load, uplink * end)
        else:
            load = _through(most[by_port], port[by_port], end)
        return load + problem.own_by(end)

    end = _last(done, least, problem.total, BISECTIONS)
    return least if np.isinf(2.0 * end) else end * (1 - 1e-12)


def _most_alone(pieces: list[tuple[Floats, Floats, np.ndarray]], end: float) -> Floats:
    """Return the most that each worker can do by ``end`` on all pieces of its cost."""
    found = np.full(len(pieces[0][0]), np.inf)
    for start, per_unit, there in pieces:
        with np.errstate(divide="ignore", invalid="ignore"):
            by_this = np.where(per_unit > 0, np.maximum(0.0, end - start) / per_unit, np.inf)
        by_this[end < start] = 0.0
        found[there] = np.minimum(found, by_this)[there]
    return found


def _through(most: Floats, port: Floats, end: float) -> float:
    """Return how much of what workers could do the port lets through, the cheapest first."""
    free = port == 0
    seconds = np.where(free, 0.0, port) * np.where(free, 0.0, most)
    before = np.concatenate([[0.0], np.cumsum(seconds)[:-1]])
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(free, np.inf, np.maximum(0.0, end - before) / port)
    return float(np.minimum(most, room).sum())


MAX_WORKERS = 2_000
STEPS, INNER, ROUNDS = 24, 20, 5
WIDE = 16.0  # the logarithm of how far the price is sought from its usual size
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
GAIN = 1e-6
ROUNDING = 1e-9  # relative: as much as rounding may take from a load


def has_waiting_bound(problem: DivisibleLoad) -> bool:
    """Whether one send at a time serves each worker once, some of them slower beyond a size."""
    if not problem.is_star or not problem.star.beyond or problem.chooses_master:
        return False
    star = problem.star
    return (
        problem.served_once
        and problem.ports in (1, 2)
        and problem.loads is None
        and len(star) <= MAX_WORKERS
        and bool(star.send_per_unit.any())
    )


def waiting_bound(problem: DivisibleLoad, least: float) -> float:
    """Return a lower bound on the makespan of one chunk a worker, one send at a time, seconds.

    Whoever is served has waited for the sends before. With y_j = C_j + c_j x_j, the time of the
    send, and t_j(x), that of computing and returning x units,

        sum_{i served up to j} y_i + t_j(x_j) <= T    for every worker j that is served.

    Times y_j, summed up over the workers, the order drops out: with s = sum y_j,

        s^2 / 2 + sum_j h_j(x_j) <= T s,    h_j(x) = y_j^2 / 2 + y_j t_j(x),

    where h_j is convex, as t_j is. The greatest load within it is bounded for any price l > 0 of
    this row and any p in [0, T], the tangent of s^2 / 2, by

        l p^2 / 2 + sum_j max(0, max {x + l (T - p) y_j - l h_j(x) : 0 <= x <= x_j(T)})

    where x_j(T) is what worker j could do alone. Each maximum lies where a piece of t_j is
    stationary, or at one of its ends. Prices are sought by golden section, the tangent where it is
    s; the greatest T by which the load does not fit is a bound for any of them. Complexity: O(n)
    for each price and tangent, some thousand of them.
    """
    load = _PricedLoad.of(problem)
    low = least
    for _ in range(ROUNDS):
        price, tangent = load.prices(low)
        end = _last(lambda at: load.most(at, price, tangent), low, problem.total * (1 - ROUNDING))  # noqa: B023
        if end <= low * (1 + GAIN):
            break
        low = end
    return low


def _last(
    most: Callable[[float], float], low: float, load: float, halvings: int = 2 * STEPS
) -> float:
    """Return the last end found by which less than the load is done; ``low`` if it is not less."""
    if not most(low) < load:
        return low
    high = 2.0 * low
    while most(high) < load:
        low, high = high, 2.0 * high
        if not np.isfinite(high):
            return low
    for _ in range(halvings):
        middle = (low + high) / 2.0
        low, high = (middle, high) if most(middle) < load else (low, middle)
    return low


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _PricedLoad:
    """The load by an end, bounded at prices; ``pieces`` are lines of t_j, -inf where none is."""

    problem: DivisibleLoad
    pieces: tuple[tuple[Floats, Floats], ...]
    sizes: Floats

    @classmethod
    def of(cls, problem: DivisibleLoad) -> _PricedLoad:
        star = problem.star
        start, back = star.return_fixed, star.return_per_unit
        pieces = [(start + star.compute_fixed, star.compute_per_unit + back)]
        for fixed, per_unit, there in star.beyond.lines(star.compute_fixed, star.compute_per_unit):
            pieces.append((np.where(there, start + fixed, -np.inf), per_unit + back))
        sizes = np.where(star.beyond.there, star.beyond.above, 0.0)
        return cls(problem=problem, pieces=tuple(pieces), sizes=sizes)

    def prices(self, end: float) -> tuple[float, float]:
        """Return a good price, times ``end``, and tangent, over ``end``, for that end."""
        send = self.problem.star.send_per_unit
        usual = -np.log(float(np.median(send[send > 0])))
        low, high = usual - WIDE, usual + WIDE
        inner = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
        found = [self._tangent(end, float(np.exp(at))) for at in inner]
        for _ in range(STEPS):
            if found[0][0] < found[1][0]:
                high, inner[1], found[1] = inner[1], inner[0], found[0]
                inner[0] = high - GOLDEN * (high - low)
                found[0] = self._tangent(end, float(np.exp(inner[0])))
            else:
                low, inner[0], found[0] = inner[0], inner[1], found[1]
                inner[1] = low + GOLDEN * (high - low)
                found[1] = self._tangent(end, float(np.exp(inner[1])))
        best = int(found[1][0] < found[0][0])
        return float(np.exp(inner[best])), found[best][1]

    def _tangent(self, end: float, price: float) -> tuple[float, float]:
        """Return the load at a price with its best tangent, and that: where it is the s of x."""
        low, high = 0.0, 1.0
        for _ in range(INNER):
            middle = (low + high) / 2.0
            sent = float(self._sends(end, price, middle)[0].sum())
            low, high = (middle, high) if sent > middle * end else (low, middle)
        return self.most(end, price, low), low

    def most(self, end: float, price: float, tangent: float) -> float:
        """Return what is done by an end at most; the price is times it, the tangent over it."""
        done = price / end * (tangent * end) ** 2 / 2.0
        done += float(self._sends(end, price, tangent)[1].sum())
        return done + self.problem.own_by(end)

    def _sends(self, end: float, price: float, tangent: float) -> tuple[Floats, Floats]:
        """Return the seconds of the send to each worker that is worth most, and its worth."""
        send, latency = self.problem.star.send_per_unit, self.problem.star.send_fixed
        row = price / end
        left = (1.0 - tangent) * end
        limit = np.full(len(send), float(self.problem.load or 0.0))
        tried = []
        with np.errstate(divide="ignore", invalid="ignore"):
            for start, slope in self.pieces:
                room = end - latency - start
                limit = np.fmin(limit, np.where(room >= 0, room / (send + slope), 0.0))
                rises = 1.0 + row * (send * (left - latency - start) - slope * latency)
                tried.append(rises / (row * send * (send + 2.0 * slope)))
        sent, worth = np.zeros(len(send)), np.zeros(len(send))
        served = end >= latency + self.pieces[0][0]
        for each in (limit, *tried, *self.sizes):
            x = np.clip(np.nan_to_num(each, nan=0.0), 0.0, limit)
            lasts = np.max([start + slope * x for start, slope in self.pieces], axis=0)
            takes = latency + send * x
            value = x + row * takes * (left - takes / 2.0 - lasts)
            better = (value > worth) & served
            sent, worth = np.where(better, takes, sent), np.where(better, value, worth)
        return sent, worth
