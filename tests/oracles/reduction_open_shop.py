"""The optimum of straight sends as an open shop, by all orders of few sends."""

from __future__ import annotations

from itertools import permutations

from numpy.typing import NDArray


def open_shop_optimum(transfer: NDArray) -> float:
    """Return when sends of one segment between all pairs can end, a port each way a machine."""
    count = len(transfer)
    pairs = [(one, other) for one in range(count) for other in range(count) if one != other]
    best = float("inf")
    for order in permutations(pairs):
        sending, receiving = [0.0] * count, [0.0] * count
        for one, other in order:
            end = max(sending[one], receiving[other]) + float(transfer[one, other])
            sending[one] = receiving[other] = end
        best = min(best, max(*sending, *receiving))
    return best
