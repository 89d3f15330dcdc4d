"""Linear stars: how much of the load each worker does in one second, for a given order.

With linear costs everything scales with the time, so an order of the workers has a *rate*: the
load done per second when all chunks are sized best. The master is a worker with a free link.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import loop
from makespan.core.numeric.sorting import least_of
from makespan.divisible.model.platform import Star

BLOCK = 30_000  # workers whose shares are computed at a time
FEW = (3 * BLOCK, 12 * BLOCK)  # how many, the cheapest, are asked for their shares before all are
RETURNS = (
    "least of: the star theorem with compute costs w + d, the same in reverse, and with one port "
    "load / max{sum x_i : (c_i + w_i + d_i) x_i <= 1, sum (c_i + d_i) x_i <= 1}"
)
NOTHING = float(np.finfo(np.float64).tiny)
"""Products below it lose their digits, and rounding keeps them from ever becoming 0."""


def equal_finish_shares(send: Floats, compute: Floats) -> Floats:
    """Return the loads with which all workers, served in the given order, end after 1 s.

    ``send``, ``compute``: seconds per unit, in the order of service; their sum is positive for
    every worker.

    Worker j gets ``1/(c_j + w_j)`` of the time that the workers before it leave of the second,
    ``prod_{k<j} w_k/(c_k + w_k)``. Those to whom less is left than any float can tell from nothing
    get 0. Source: Benoit 2016, theorems on buses and stars. Complexity: O(workers with a share).

    >>> equal_finish_shares(np.array([1.0, 2.0]), np.array([3.0, 6.0])).tolist()
    [0.25, 0.09375]
    """
    shares = np.zeros(len(send))
    left = 1.0
    for first in range(0, len(send), BLOCK):
        block = slice(first, first + BLOCK)
        total = send[block] + compute[block]
        after = left * np.cumprod(compute[block] / total)
        before = np.concatenate([[left], after[:-1]])
        shares[block] = np.where(before >= NOTHING, before, 0.0) / total
        left = float(after[-1])
        if left < NOTHING:
            break
    return shares


def best_shares(send: Floats, compute: Floats) -> Floats:
    """Return the loads that add up to the most in 1 s for the given order of service.

    Where the order is not by non-decreasing send cost, equal finish is not optimal: a worker is
    used only if the load that the workers after it could do in the same port time is less.
    Backwards over the order, with rate s of the workers after k: worker k is used iff ``c_k s <
    1``, and then ``s = (1 + s w_k)/(c_k + w_k)``. Source: Benoit 2016, bus and star theorems,
    corrected (a given order that is not sorted may drop workers). Complexity: O(n).

    >>> best_shares(np.array([4.0, 1.0]), np.array([2.0, 2.0])).tolist()
    [0.0, 0.3333333333333333]
    """
    used = np.zeros(len(send), dtype=bool)
    _uses.at(len(send))(np.asarray(send), np.asarray(compute), used)
    shares = np.zeros(len(send))
    shares[used] = equal_finish_shares(send[used], compute[used])
    return shares


@loop(pays_from=3_000)
def _uses(send, compute, used):  # type: ignore[no-untyped-def]
    """Fill in who is used, from the last worker to the first."""
    rate = 0.0
    for position in range(len(send) - 1, -1, -1):
        c, w = send[position], compute[position]
        if c * rate < 1.0:
            rate = (1.0 + rate * w) / (c + w)
            used[position] = True


def one_round_rate(send: Floats, compute: Floats, by_send: Integers | None = None) -> float:
    """Return the load a second of a linear star in one round, the order being the best one.

    ``by_send`` is that order, the workers by send cost, where it is known.
    """
    for order in _cheapest(send, by_send):
        shares = equal_finish_shares(send[order], compute[order])
        if not shares[-1:].all():  # nothing is left for those behind
            break
    return float(shares.sum())


def sustained_rate(port: Floats, alone: Floats, by_port: Integers | None = None) -> float:
    """Return the most load a second: max{sum x : x_j <= 1/alone_j, sum port_j x_j <= 1}.

    The cheapest for the port come first; ``by_port`` is their order, where it is known.
    """
    for order in _cheapest(port, by_port):
        rate, used = 0.0, 0.0
        for first in range(0, len(order), BLOCK):
            worker = order[first : first + BLOCK]
            seconds, free = port[worker], port[worker] == 0
            with np.errstate(divide="ignore", invalid="ignore"):
                speed = 1.0 / alone[worker]
                wanted = np.cumsum(np.where(free, 0.0, seconds * speed))
                room = np.maximum(0.0, 1.0 - (used + np.concatenate([[0.0], wanted[:-1]])))
                rate += float(np.where(free, speed, np.minimum(speed, room / seconds)).sum())
            used += float(wanted[-1])
            if used >= 1.0:  # those behind find no room
                return rate
    return rate


def _cheapest(costs: Floats, order: Integers | None) -> Iterator[Integers]:
    """Yield the few that cost least, by cost, then more of them, then all: no more are sorted than
    are asked for.
    """
    for few in (*FEW, len(costs)):
        found = least_of(costs, few) if order is None else order[:few]
        yield found
        if len(found) == len(costs):
            return


def rate_with_returns(star: Star, *, one_port: bool) -> float:
    """Return the load per second that no one-round plan of the workers exceeds.

    A result that returns keeps its worker's part of the plan from ending: without the port, it
    is as good as more computation. In reverse, results are sent and loads return.

    >>> from makespan import Worker
    >>> star = Star([Worker(send=1.0, compute=2.0, return_=1.0)] * 2)
    >>> rate_with_returns(star, one_port=True)
    0.4375
    """
    send, compute, back = star.send_per_unit, star.compute_per_unit, star.return_per_unit
    if not (send.all() or (send + compute + back).all()):
        return np.inf
    rate = min(one_round_rate(send, compute + back), one_round_rate(back, compute + send))
    port = send + back
    return min(rate, sustained_rate(port, port + compute)) if one_port else rate
