"""A lower bound where chunks beyond some sizes take longer, for so many chunks a worker."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.divisible.problem import DivisibleLoad

STEPS = 100


def has_beyond_bound(problem: DivisibleLoad) -> bool:
    """Whether chunks are few enough to be long: in any number of rounds they are short."""
    if not problem.is_star or not problem.star.beyond or problem.chooses_master:
        return False
    return problem.loads is None and (problem.rounds != "auto" or problem.given_sends is not None)


def beyond_bound(problem: DivisibleLoad, least: float) -> float:
    """Return a lower bound on the makespan of a star whose workers get few chunks, seconds.

    In R chunks a worker computes x units in no less than R w(x / R), as w is convex; on each
    piece of w, a line W_l + w_l x, that is W + R (W_l - W) + w_l x. In one chunk it has received
    them before, and returns them behind. So by T it does no more than some x_j(T), and with the
    port the load is at most

        max {sum x_j : x_j <= x_j(T), sum c_j x_j <= T},

    to which those who are cheapest for the port come first. The least T at which the load fits is
    found by bisection from ``least``, a bound that is known.

    Complexity: O(n log n), and O(n) a step.
    """
    assert problem.load is not None
    star, count = problem.star, len(problem.star)
    chunks = np.full(count, float(problem.rounds) if problem.rounds != "auto" else 0.0)
    if problem.given_sends is not None:
        chunks = np.bincount(problem.workers_in(problem.given_sends), minlength=count) * 1.0
    beyond = star.beyond.lines(star.compute_fixed, star.compute_per_unit)
    affine = (star.compute_fixed, star.compute_per_unit, np.full(count, True))
    once = chunks <= 1
    transfers = np.where(once, star.send_per_unit + star.return_per_unit, 0.0)
    start = star.send_fixed + star.compute_fixed + star.return_fixed
    pieces = [
        (start + chunks * (fixed - star.compute_fixed), transfers + per_unit, there)
        for fixed, per_unit, there in (affine, *beyond)
    ]
    port = star.send_per_unit.copy()
    if problem.ports == 1:
        port = port + star.return_per_unit
    by_port = np.argsort(port, kind="stable")
    uplink = getattr(star.master, "uplink", None)
    own = star.master_cost if problem.master_computes else None

    def done(end: float) -> float:
        most = _most(pieces, end)
        most[chunks == 0] = 0.0
        if problem.ports == "many":
            load = float(most.sum())
            load = load if uplink is None else min(load, uplink * end)
        else:
            load = _through(most[by_port], port[by_port], end)
        if own is not None and end > own.fixed:
            load += (end - own.fixed) / own.per_unit if own.per_unit > 0 else np.inf
        return load

    low = high = least
    while done(high) < problem.load:
        low, high = high, 2.0 * high
        if not np.isfinite(high):
            return least
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        if not low < middle < high:
            break
        low, high = (middle, high) if done(middle) < problem.load else (low, middle)
    return low * (1 - 1e-12)


def _most(pieces: list[tuple[Floats, Floats, np.ndarray]], end: float) -> Floats:
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
