"""How much a linear star can do in one round at most, where results return."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.core.numeric.sorting import least_of
from makespan.divisible.model.platform import Star
from makespan.divisible.rates.shares import BLOCK, equal_finish_shares

RETURNS = (
    "least of: the star theorem with compute costs w + d, the same in reverse, and with one port "
    "load / max{sum x_i : (c_i + w_i + d_i) x_i <= 1, sum (c_i + d_i) x_i <= 1}"
)

FEW = (3 * BLOCK, 12 * BLOCK)
"""How many workers, the cheapest, are asked for their shares before all are."""


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
    rate = min(_star_rate(send, compute, back), _star_rate(back, compute, send))
    return min(rate, _port_rate(send, compute, back)) if one_port else rate


def _star_rate(first: Floats, compute: Floats, last: Floats) -> float:
    """Return the rate of the star with the last transfers as good as computation."""
    for count in (*FEW, len(first)):
        order = least_of(first, count)
        shares = equal_finish_shares(first[order], compute[order] + last[order])
        if len(order) == len(first) or not shares[-1]:  # nothing is left for those behind
            break
    return float(shares.sum())


def _port_rate(send: Floats, compute: Floats, back: Floats) -> float:
    """Return max{sum x : total x <= 1, port x in sum <= 1}: the cheapest for the port first."""
    port = send + back
    for count in (*FEW, len(port)):
        order = least_of(port, count)
        total = port[order] + compute[order]
        wanted = port[order] / total
        used = np.cumsum(wanted)
        if len(order) == len(port) or used[-1] >= 1.0:  # those behind find no room
            break
    room = np.maximum(0.0, 1.0 - (used - wanted))
    share = np.minimum(1.0, np.divide(room, wanted, out=np.ones_like(room), where=wanted > 0))
    return float((share / total).sum())
