"""Compiled loops for chains of many chunks; ``chain`` is the plain twin."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import kernel


@kernel
def coefficients_kernel(
    sequence: Integers,
    send_fixed: Floats,
    send: Floats,
    compute_fixed: Floats,
    compute: Floats,
    constant: Floats,
    slope: Floats,
) -> tuple[float, float, float, float]:
    """Fill ``constant`` and ``slope`` of every chunk; return the sums of sends and of amounts.

    As :func:`makespan.divisible.rounds.chain.coefficients`, in one pass.
    """
    workers = len(send)
    until, until_slope = np.zeros(workers), np.full(workers, -1.0)
    after, after_slope, placed, placed_slope = 0.0, 0.0, 0.0, 0.0
    for position in range(len(sequence) - 1, -1, -1):
        worker = sequence[position]
        fixed = (after - until[worker] - compute_fixed[worker]) / compute[worker]
        per_tail = (after_slope - until_slope[worker]) / compute[worker]
        constant[position] = fixed
        slope[position] = per_tail
        until[worker] = after
        until_slope[worker] = after_slope
        after += send_fixed[worker] + send[worker] * fixed
        after_slope += send[worker] * per_tail
        placed += fixed
        placed_slope += per_tail
    return after, after_slope, placed, placed_slope


@kernel
def prices_are_negative(sequence: Integers, send: Floats, compute: Floats, own: float) -> bool:
    """Whether a price in the dual of a sequence is negative, to within 1e-9.

    ``own`` is the master's compute cost per unit, infinite if it does not compute. As
    :func:`makespan.divisible.rounds.chain.is_optimal`, in two passes without storing the prices.
    """
    unit = 0.0
    for second in range(2):
        left, left_slope = 1.0, -1.0 / own
        paid, paid_slope = np.zeros(len(send)), np.zeros(len(send))
        for position in range(len(sequence)):
            worker = sequence[position]
            total = -send[worker] * left / compute[worker]
            total_slope = (1.0 - send[worker] * left_slope) / compute[worker]
            price = total - paid[worker]
            price_slope = total_slope - paid_slope[worker]
            if second == 1 and price + price_slope * unit < -1e-9:
                return True
            paid[worker] = total
            paid_slope[worker] = total_slope
            left -= price
            left_slope -= price_slope
        if left_slope == 0.0:
            return True
        unit = -left / left_slope
        if unit < 0.0:
            return True
    return False
