"""Prices of the port's time and of money that say more and more: the subgradient method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.divisible.one_round.lagrange import Priced, Prices, Relaxation

PATIENCE = 6
LEAST_STEP = 0.05
BETTER = 1e-6


def descent(
    relaxation: Relaxation, end: float, prices: Prices, target: float
) -> Iterator[tuple[Prices, Priced]]:
    """Yield prices and what they say of ``end``, from the given ones on, until steps are small.

    Each step goes against the idle time of the port and what is left of the budget, as far as would
    lead to the load ``target`` if the bound were linear, projected on prices that fall with time.
    After steps in vain it starts again from the best prices, half as far.

    Source: B. Polyak, Minimization of unsmooth functionals, USSR Computational Mathematics and
    Mathematical Physics 9 (1969); M. Held, P. Wolfe and H. Crowder, Validation of subgradient
    optimization, Mathematical Programming 6 (1974).
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
