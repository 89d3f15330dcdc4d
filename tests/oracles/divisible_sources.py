"""Several sources: a linear programme for each order of sends, all of them tried, and problems."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.optimize import linprog

from makespan import Affine, DivisibleLoad, Source, Sources, Worker

Link = tuple[int, int]


def best_of_sources(problem: DivisibleLoad) -> float | None:
    """Return the least makespan, or the most load by the deadline; None where no plan exists.

    ``inf`` where the load has no maximum. The problem says how many rounds there are.
    """
    platform = problem.platform
    assert isinstance(platform, Sources)
    able = [index for index, source in enumerate(platform.sources) if source.compute is not None]
    found = []
    for order in _orders(platform, int(problem.rounds)):
        for count in range(len(able) + 1):
            for own in itertools.combinations(able, count):
                value = _sized(problem, platform, order, own)
                if value == -math.inf:
                    return math.inf
                if value is not None:
                    found.append(value)
    least = min(found, default=None)
    if problem.load is None:
        return None if least is None else -least
    if least is None or problem.deadline is None:
        return least
    return least if least <= problem.deadline * (1 + 1e-9) else None


def _orders(platform: Sources, rounds: int) -> Iterator[tuple[Link, ...]]:
    """Yield every order of sends, of each link at most so many."""
    links = [
        (source, worker)
        for source, costs in enumerate(platform.sources)
        for worker, cost in enumerate(costs.send)
        if cost.per_unit < math.inf
    ]
    for count in range(len(links) * rounds + 1):
        for order in itertools.product(links, repeat=count):
            if all(order.count(link) <= rounds for link in set(order)):
                yield order


def _sized(
    problem: DivisibleLoad, platform: Sources, order: Sequence[Link], own: Sequence[int]
) -> float | None:
    """Return the optimum of an order: amounts, starts of sends, ends of computations, own, T."""
    sources, workers, count = platform.sources, platform.workers, len(order)
    width = 3 * count + len(sources) + 1
    rows: list[np.ndarray] = []
    limits: list[float] = []
    end = width - 1

    def at_least(later: int, constant: float, *terms: tuple[int, float]) -> None:
        """Variable ``later`` >= constant + sum of factor * variable."""
        row = np.zeros(width)
        row[later] -= 1.0
        for index, factor in terms:
            row[index] += factor
        rows.append(row)
        limits.append(-constant)

    bounds: list[tuple[float, float | None]] = [(0.0, None)] * width
    for k, (s, j) in enumerate(order):
        send, compute = sources[s].send[j], workers[j].compute
        start, done = count + k, 2 * count + k
        bounds[k] = (0.0, _limit(workers[j].memory))
        bounds[start] = (sources[s].release, None)
        bounds[done] = (0.0, _limit(workers[j].deadline))
        both = send.fixed + compute.fixed
        at_least(done, both, (start, 1.0), (k, send.per_unit + compute.per_unit))
        at_least(done, workers[j].release + compute.fixed, (k, compute.per_unit))
        at_least(end, 0.0, (done, 1.0))
        for before in range(k):
            a, b = order[before]
            if (a, b) == (s, j) or (problem.ports != "many" and (a == s or b == j)):
                cost = sources[a].send[b]
                terms = (count + before, 1.0), (before, cost.per_unit)
                at_least(start, cost.fixed, *terms)
            if b == j:
                terms = (2 * count + before, 1.0), (k, compute.per_unit)
                at_least(done, compute.fixed, *terms)
    for s, source in enumerate(sources):
        if s in own:
            cost = source.compute
            at_least(end, source.release + cost.fixed, (3 * count + s, cost.per_unit))
        else:
            bounds[3 * count + s] = (0.0, 0.0)
    amounts = np.array([*[1.0] * count, *[0.0] * (2 * count), *[1.0] * len(sources), 0.0])
    equal, sums = [], []
    if platform.held is not None:
        for s, held in enumerate(platform.held.tolist()):
            row = np.zeros(width)
            row[[k for k, link in enumerate(order) if link[0] == s]] = 1.0
            row[3 * count + s] = 1.0
            equal.append(row)
            sums.append(held)
    elif problem.load is not None:
        equal.append(amounts)
        sums.append(problem.load)
    cost = np.zeros(width)
    cost[end] = 1.0
    if problem.load is None:
        cost, bounds[end] = -amounts, (0.0, problem.deadline)
    solved = linprog(
        cost,
        A_ub=np.array(rows) if rows else None,
        b_ub=limits or None,
        A_eq=np.array(equal) if equal else None,
        b_eq=sums or None,
        bounds=bounds,
    )
    if solved.status == 3:
        return -math.inf
    return float(solved.fun) if solved.status == 0 else None


def _limit(value: float) -> float | None:
    return None if math.isinf(value) else value


FIXED = (0, 0, 0.5, 1, 3)
PER_UNIT = (0.3, 0.5, 1, 1, 2, 3, 5)


def random_sources(rng: random.Random) -> DivisibleLoad:
    """Return a problem of at most four links, times rounds, in which all fields meet."""
    count, workers, rounds = rng.choice(((1, 2, 1), (2, 1, 1), (2, 1, 2), (2, 2, 1), (2, 2, 1)))
    fixed, rich = rng.random() < 0.6, rng.choice((0.0, 0.5, 1.0))

    def cost() -> Affine:
        return Affine(rng.choice(FIXED) if fixed else 0.0, rng.choice(PER_UNIT))

    def maybe(share: float, value: float, other: float) -> float:
        return value if rng.random() < share * rich else other

    split = rng.random() < 0.6
    sources = [
        Source(
            load=rng.choice((0, 1, 2.5, 4)) if split else None,
            send=[
                Affine(0.0, math.inf) if rng.random() < 0.1 * rich else cost()
                for _ in range(workers)
            ],
            compute=cost() if rng.random() < 0.3 else None,
            release=maybe(0.4, rng.choice((1, 3)), 0.0),
        )
        for _ in range(count)
    ]
    crew = [
        Worker(
            compute=cost(),
            memory=maybe(0.2, rng.choice((1, 2, 4)), math.inf),
            release=maybe(0.2, 2.0, 0.0),
            deadline=maybe(0.2, rng.choice((6, 20)), math.inf),
        )
        for _ in range(workers)
    ]
    goal = {}
    if not split and rng.random() < 0.3:
        goal["deadline"] = rng.choice((0, 3, 10))
    elif not split:
        goal["load"] = rng.choice((0, 2, 5))
    elif rng.random() < 0.15:
        goal["deadline"] = rng.choice((3, 10, 20))
    return DivisibleLoad(
        platform=Sources(sources, crew),
        rounds=rounds,
        ports=rng.choice((1, 1, 2, "many")),
        **goal,
    )
