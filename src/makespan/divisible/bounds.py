"""Lower bounds for divisible loads on stars."""

from dataclasses import replace

import numpy as np

from makespan.backends.answer import Answer, Verdict
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.solution import Bound
from makespan.divisible.model.sources import Sources
from makespan.divisible.model.tree import Tree
from makespan.divisible.one_round.plans import enforce_limits, undated
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates import piecewise
from makespan.divisible.rates.quick import quick_bounds, seconds_scale, units_scale
from makespan.divisible.rounds.uplink import simpler

__all__ = ["bounds", "enforce_limits", "undated"]
RELAXATION = "Benoit 2016, mixed linear program for DL with latencies, choices relaxed"
CHUNKS = "the mixed-integer programme of chunks as a linear one of sums (chunk-programme)"
START_UP = "price of the port's time, with the start-up of every worker used (see the function)"
BEYOND = "convex costs shared among the chunks, and the port's time (see the function)"
WAITING = "waits for the sends before, times the sends, summed up; at prices (see the function)"
SPREAD = (
    "equivalent processors (Cheng and Robertazzi 1990); fixed costs spread over the most that each "
    "node could do"
)
SOURCES = "sums of ports, receptions and processors, and tangents (see divisible.sources.sums)"
MAX_WORKERS_TO_RELAX = 16
MAX_LINKS = 1_000
MAX_WORKERS_TO_START = 20_000


def bounds(problem: DivisibleLoad) -> tuple[Bound, ...]:
    """Return lower bounds on the makespan, whatever is to be least; none for an open load."""
    problem = simpler(problem)
    if problem.objective == "price":
        problem = replace(problem, objective="makespan")
    found = quick_bounds(problem)
    known = max((bound.value for bound in found), default=0.0)
    if 0 < known < np.inf and piecewise.has_beyond_bound(problem):
        known = piecewise.beyond_bound(problem, known)
        found += (Bound(value=known, name="beyond", source=BEYOND),)
    if 0 < known < np.inf and piecewise.has_waiting_bound(problem):
        known = piecewise.waiting_bound(problem, known)
        found += (Bound(value=known, name="waiting", source=WAITING),)
    if found and _has_relaxation(problem):
        found += _relaxation(problem)
    if found and _has_sums(problem):
        found += _sums(problem)
    platform = problem.platform
    if isinstance(platform, Sources) and problem.load and platform.send_fixed.size <= MAX_LINKS:
        from makespan.divisible.sources.sums import Sums

        built = Sums(problem)
        answer = built.solve(Control())
        found += _of_programme("sums of links", SOURCES, answer, built.scaled.second)
    if isinstance(problem.platform, Tree) and problem.has_latencies and 0 < known < np.inf:
        from makespan.divisible.trees.equivalent import spread_bound

        value = spread_bound(problem.platform, problem.total, known)
        found += (Bound(value=value, name="spread tree", source=SPREAD),)
    if _has_start_up(problem, known):
        value = start_up_bound(problem, max(bound.value for bound in found))
        found += (Bound(value=value, name="start-up", source=START_UP),)
    return found


def _has_start_up(problem: DivisibleLoad, known: float) -> bool:
    """Whether fixed costs delay workers that several rounds may serve, one send at a time."""
    return (
        problem.is_star
        and not problem.chooses_master
        and 0 < len(problem.star) <= MAX_WORKERS_TO_START
        and problem.rounds != 1
        and problem.ports in (1, 2)
        and problem.loads is None
        and problem.has_latencies
        and 0 < known < np.inf
        and bool(problem.star.compute_per_unit.all())
        and not (problem.master_computes and problem.star.master_cost.per_unit == 0)
    )


def _has_relaxation(problem: DivisibleLoad) -> bool:
    """Whether the mixed-integer programme states the problem and has more to say."""
    return (
        problem.is_star
        and not problem.chooses_master
        and 0 < len(problem.star) <= MAX_WORKERS_TO_RELAX
        and problem.rounds == 1
        and problem.ports in (1, 2)
        and problem.loads is None
        and problem.activation is None
        and problem.transfers is None
        and bool(problem.has_latencies or problem.budget or problem.star.release.any())
    )


def _has_sums(problem: DivisibleLoad) -> bool:
    """Whether the linear programme of sums states the problem and has more to say."""
    if not problem.is_star or problem.chooses_master or problem.transfers is not None:
        return False
    star = problem.star
    limited = problem.budget or problem.loads is not None or star.release.any()
    limited = limited or np.isfinite(star.deadline).any() or problem.ports == "many"
    return 0 < len(star) <= MAX_WORKERS_TO_RELAX and bool(
        problem.has_latencies or problem.has_returns or limited
    )


def _sums(problem: DivisibleLoad) -> tuple[Bound, ...]:
    """Return the bound of the programme without slots, whose choices may be fractions."""
    from makespan.divisible.returns.chunk_programme import ChunkProgramme

    built = ChunkProgramme(problem, horizon=np.inf, relaxed=True)
    answer = built.programme.solve(Control())
    return _of_programme("sums of chunks", CHUNKS, answer, built.terms.second)


def _relaxation(problem: DivisibleLoad) -> tuple[Bound, ...]:
    """Return the bound of the programme whose choices may be fractions."""
    from makespan.divisible.one_round.slots import build

    second, unit = seconds_scale(problem), units_scale(problem)
    built = build(problem, second=second, unit=unit, relaxed=True)
    return _of_programme("relaxation", RELAXATION, built.programme.solve(Control()), second)


def _of_programme(name: str, source: str, answer: Answer, second: float) -> tuple[Bound, ...]:
    """Return the optimum of a programme that measures in so many seconds, where there is one."""
    if answer.verdict is not Verdict.OPTIMAL:
        return ()
    return (Bound(value=answer.bound * second, name=name, source=source),)


MAX_STAGGERED = 200  # workers up to which the order of first chunks is looked at: O(n^2)
PRICES = 24
ZOOMS = 3
STEPS = 60


def start_up_bound(problem: DivisibleLoad, at_least: float) -> float:
    """Return a lower bound on the makespan of any plan with one port for the sends, seconds.

    ``problem``: a star with a given master, a load, and one send at a time. ``at_least``: A lower
    bound already known, positive.

    In a plan that ends at T, let U be the workers used, the k-th of them to get its first chunk at
    rank k. That chunk comes after k sends to k workers, which last at least P_k, the sum of the k
    least C, and at least C_j + P_{k-1} for worker j. So the worker j of rank k computes x_j <= (T -
    W_j - P_k)/w_j, and for the port sum_U (C_j + c_j x_j) <= T. For any price mu >= 0 of the port's
    time, the load done is then at most

        mu T + max over U and ranks of sum_U [v_j (T - W_j - P_k) - mu C_j],

    v_j = max(0, 1 - mu c_j)/w_j, plus what the master computes. For a given U the ranks that
    maximise it go by decreasing v_j, so a dynamic programme over the workers by decreasing v_j and
    the number used so far finds the maximum. The same holds with C_j + P_{k-1} in place of P_k, and
    the lesser of both maxima counts. The least T at which the load fits is a bound for every mu;
    prices are searched on a grid that zooms in. With more than 200 workers the ranks are left out:
    P_k becomes C_j. Complexity: O(n^2) a price and step, vectorised over the prices; O(n log n) a
    price without ranks.
    """
    least_ends = _least_ends if len(problem.star) <= MAX_STAGGERED else _least_ends_alone
    send = problem.star.send_per_unit
    cheapest = float(send[send > 0].min(initial=np.inf))
    low, high = 0.0, min(1e300, 1.0 / cheapest if cheapest < np.inf else 1.0)
    best = at_least
    for _ in range(ZOOMS):
        prices = np.linspace(low, high, PRICES)
        ends = least_ends(problem, prices, best)
        place = int(np.argmax(ends))
        best = max(best, float(ends[place]))
        low, high = prices[max(0, place - 1)], prices[min(PRICES - 1, place + 1)]
    return best * (1 - 1e-12 - len(send) * np.finfo(np.float64).eps)


def _least_ends_alone(problem: DivisibleLoad, prices: Floats, least: float) -> Floats:
    """Return for each price the least T at which the load fits without ranks.

    The load done by T is mu T plus, for every machine, what it does from some time on at some
    rate, or nothing. It is the most that any set of machines gives when all are counted from T = 0
    on, so T is the least of the times that these sets need; by their times, each is a first few.
    """
    star, price = problem.star, prices[:, np.newaxis]
    rate = np.maximum(0.0, 1.0 - price * star.send_per_unit) / star.compute_per_unit
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        since = star.compute_fixed + star.send_fixed + price * star.send_fixed / rate
        if problem.master_computes:
            own = star.master_cost
            rate = np.insert(rate, 0, 1.0 / own.per_unit, axis=1)
            since = np.insert(since, 0, own.fixed, axis=1)
        since[rate == 0.0] = np.inf
        order = np.argsort(since, axis=1)
        rate, since = np.take_along_axis(rate, order, 1), np.take_along_axis(since, order, 1)
        missed = np.cumsum(np.where(rate > 0.0, rate * since, 0.0), axis=1)
        ends = (problem.total + missed) / (price + np.cumsum(rate, axis=1))
        alone = problem.total / prices
    return np.fmax(0.0, np.fmin(alone, np.fmin.reduce(ends, axis=1)))


def _least_ends(problem: DivisibleLoad, prices: Floats, least: float) -> Floats:
    """Return for each price the largest T found at which the load does not fit, by bisection."""
    low = np.full(len(prices), least)
    low[_most_load(problem, prices, low) >= problem.total] = 0.0
    high = 2.0 * np.full(len(prices), least)
    for _ in range(STEPS):
        short = _most_load(problem, prices, high) < problem.total
        if not short.any():
            break
        high[short] *= 2.0
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        short = _most_load(problem, prices, middle) < problem.total
        low, high = np.where(short, middle, low), np.where(short, high, middle)
        if np.all(high - low <= 1e-11 * high):
            break
    return low


def _most_load(problem: DivisibleLoad, prices: Floats, end: Floats) -> Floats:
    star = problem.star
    price = prices[:, np.newaxis]
    worth = np.maximum(0.0, 1.0 - price * star.send_per_unit) / star.compute_per_unit
    paid = worth * (end[:, np.newaxis] - star.compute_fixed) - price * star.send_fixed
    done = prices * end
    if problem.master_computes:
        own = star.master_cost
        done = done + np.maximum(0.0, end - own.fixed) / own.per_unit
    sums = np.concatenate([[0.0], np.cumsum(np.sort(star.send_fixed))])
    by_all = _ranked(worth, paid, sums[1:])
    by_own = _ranked(worth, paid - worth * star.send_fixed, sums[:-1])
    return np.asarray(done + np.minimum(by_all, by_own))


def _ranked(worth: Floats, paid: Floats, wait: Floats) -> Floats:
    """Return the maximum over sets of workers and ranks of the sum of ``paid - worth * wait``."""
    order = np.argsort(-worth, axis=1, kind="stable")
    worth, paid = np.take_along_axis(worth, order, 1), np.take_along_axis(paid, order, 1)
    count = worth.shape[1]
    most = np.full((len(worth), count + 1), -np.inf)
    most[:, 0] = 0.0
    for place in range(count):
        gain = paid[:, place, np.newaxis] - worth[:, place, np.newaxis] * wait[: place + 1]
        np.maximum(most[:, 1 : place + 2], most[:, : place + 1] + gain, out=most[:, 1 : place + 2])
    result: Floats = most.max(axis=1)
    return result
