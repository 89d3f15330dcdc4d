"""How much a linear star can do in one round at most, where results return."""

from __future__ import annotations

import numpy as np

from makespan.divisible.model.platform import Star
from makespan.divisible.rates.shares import one_round_rate, sustained_rate

RETURNS = (
    "least of: the star theorem with compute costs w + d, the same in reverse, and with one port "
    "load / max{sum x_i : (c_i + w_i + d_i) x_i <= 1, sum (c_i + d_i) x_i <= 1}"
)


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
