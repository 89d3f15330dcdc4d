"""The least threshold of costs that never fall: how many tasks each resource can take by then."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers

POINTS = 32  # how many counts of each resource a round looks at

MAX_POINTS = 1 << 20
"""How many counts of all resources together, unless that leaves fewer than the fewest of each."""
FEWEST_POINTS = 4

Costs = Callable[[Integers], Floats]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Threshold:
    """The least threshold, and the greatest count that each resource can take by then.

    Where it is not ``proved``, there may be a lower one, though none below ``bound``.
    """

    value: float
    counts: Integers
    bound: float
    proved: bool


def least_threshold(
    costs: Costs, lower: Integers, upper: Integers, tasks: int, control: Control
) -> Threshold:
    """Return the least threshold by which the resources can take the tasks.

    ``costs`` maps an array of counts, one row per resource, to their costs, which never fall;
    ``lower`` and ``upper`` add up to ``tasks`` at most, and at least. In every round each resource
    is asked for the costs of 32 counts across its open interval (fewer of many resources). Where
    the time is up, the best seen is returned, after one round at least.

    Of the values seen, the least at which the counts seen to be allowed suffice is high enough; the
    threshold is not below the least at which all counts not seen to be forbidden suffice. The
    intervals shrink to the counts whose costs can lie between. (Bisection on the threshold would
    ask for one cost at a time, 64 log T times as often.) Complexity: O(log T) calls per resource
    for 32 costs each, and sorting them.
    """
    allowed, below, upto = lower, upper, upper
    least, best, proved = 0.0, np.inf, True
    while int(below.sum()) >= tasks:  # the threshold may still be below the best
        if best < np.inf and control.expired():
            proved = False
            break
        points = _points(allowed, below)
        found = np.maximum.accumulate(costs(points), axis=1)
        found = np.maximum(found, found[:, 0].max())
        least, best = _between(points, found, below, tasks)
        upto = np.minimum(upto, _first(points, found > best, upto + 1) - 1)
        allowed = _last(points, found <= least, allowed)
        below = np.minimum(below, _first(points, found >= best, below + 1) - 1)
        if least == best:
            break
    counts = greatest(costs, allowed, upto, best)
    return Threshold(value=best, counts=counts, bound=best if proved else least, proved=proved)


def _points(first: Integers, last: Integers) -> Integers:
    """Return counts spread over each interval ``[first, last]``, its ends among them."""
    points = max(FEWEST_POINTS, min(POINTS, MAX_POINTS // len(first)))
    share = np.arange(points, dtype=np.int64)
    whole, rest = np.divmod((last - first)[:, None], points - 1)
    return first[:, None] + share * whole + (share * rest) // (points - 1)


def _between(points: Integers, found: Floats, below: Integers, tasks: int) -> tuple[float, float]:
    """Return the least value seen at which the tasks may fit, and at which they do.

    At a value, a resource can take its last point up to it for sure, and at most one count less
    than its next point.
    """
    order = np.argsort(found, axis=None, kind="stable")
    values = found.reshape(-1)[order]
    sure = np.diff(points, axis=1, prepend=0).reshape(-1)[order]
    before_next = np.concatenate([points[:, 1:] - 1, below[:, None]], axis=1)
    before_next = np.maximum(before_next, points)
    perhaps = np.diff(before_next, axis=1, prepend=0).reshape(-1)[order]
    fit = values[np.searchsorted(np.cumsum(sure), tasks)]
    may_fit = values[np.searchsorted(np.cumsum(perhaps), tasks)]
    return float(max(may_fit, values[0])), float(fit)


def _first(points: Integers, where: np.ndarray, otherwise: Integers) -> Integers:
    """Return each row's first point at which ``where`` is true."""
    at = where.argmax(axis=1)
    rows = np.arange(len(points))
    return np.where(where[rows, at], points[rows, at], otherwise)


def _last(points: Integers, where: np.ndarray, otherwise: Integers) -> Integers:
    """Return each row's last point of those up to which ``where`` is true."""
    number = where.sum(axis=1)
    found = points[np.arange(len(points)), np.maximum(number - 1, 0)]
    return np.where(number > 0, found, otherwise)


def greatest(costs: Costs, allowed: Integers, upto: Integers, value: float) -> Integers:
    """Return the greatest count of each row, from ``allowed`` to ``upto``, that costs no more."""
    while (allowed < upto).any():
        points = _points(allowed, upto)
        fits = costs(points) <= value
        fits[:, 0] = True
        fits = np.logical_and.accumulate(fits, axis=1)
        upto = np.minimum(upto, _first(points, ~fits, upto + 1) - 1)
        allowed = _last(points, fits, allowed)
    return allowed


def lexicographic(lower: Integers, counts: Integers, tasks: int) -> Integers:
    """Return the lexicographically least counts between ``lower`` and ``counts`` with this sum.

    >>> lexicographic(np.array([0, 0, 1]), np.array([4, 3, 2]), 6).tolist()
    [1, 3, 2]
    """
    room = counts - lower
    left = tasks - int(lower.sum())
    after = np.concatenate([np.cumsum(room[::-1])[::-1][1:], [0]])
    given: Integers = np.clip(left - after, 0, room)
    return lower + given
