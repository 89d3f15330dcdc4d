"""The closed form of many rounds on equal workers, by generating functions.

Chunks are numbered backwards, g is their computation in seconds, N workers, ratio R, latencies
alpha (computation) and beta (transfer). With e_i = g_0 + i beta for i < N and N beta - alpha
after that, g_i = (g_{i-1} + ... + g_{i-N})/R + e_i. Multiplied by (1 - x), the generating function
is ``numerator / denominator`` below: Yang and Casanova 2003, eq. 14 with -alpha x^N (corrected).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np


def numerators(workers: int, alpha: Any, beta: Any) -> tuple[list[Any], list[Any]]:
    """Return the coefficients of the numerator that g_0 multiplies, and of the rest."""
    of_first = [1, *[0] * (workers - 1), -1]
    rest = [0, *[beta] * workers]
    rest[workers] -= alpha
    return of_first, rest


def denominator(workers: int, ratio: Any) -> list[Any]:
    """Return the coefficients of (1 - x) - x (1 - x^N)/R."""
    coefficients = [Fraction(0) if isinstance(ratio, Fraction) else 0.0] * (workers + 2)
    coefficients[0] += 1
    coefficients[1] -= 1
    coefficients[1] -= 1 / ratio
    coefficients[workers + 1] += 1 / ratio
    return coefficients


def times(first: list[Any], second: list[Any], terms: int) -> list[Any]:
    """Return the first coefficients of the product of two series."""
    return [
        sum(
            first[k] * second[place - k]
            for k in range(place + 1)
            if k < len(first) and place - k < len(second)
        )
        for place in range(terms)
    ]


def expanded(numerator: list[float], workers: int, ratio: float, terms: int) -> list[float]:
    """Return the coefficients of numerator/denominator by partial fractions over the roots.

    The root 1 is taken out by hand: simple for R != N, double for R = N (Appendix A). All other
    roots are simple.
    """
    others = np.roots([-1.0] * workers + [ratio])  # R - x - ... - x^N, highest power first
    double = abs(ratio - workers) < 1e-12
    if double:
        nearest = int(np.argmin(abs(others - 1.0)))
        others = np.delete(others, nearest)
    poly = np.polynomial.polynomial
    top = np.asarray(numerator, dtype=float)
    bottom = np.asarray(denominator(workers, ratio), dtype=float)
    index = np.arange(terms)
    result = np.zeros(terms, dtype=complex)
    slope = poly.polyder(bottom)
    for root in others:
        share = -poly.polyval(root, top) / (root * poly.polyval(root, slope))
        result += share * root ** (-index)
    if not double:
        result += -poly.polyval(1.0, top) / poly.polyval(1.0, slope)
        return result.real.tolist()
    curve, bend = poly.polyder(bottom, 2), poly.polyder(bottom, 3)
    second = poly.polyval(1.0, curve) / 2.0
    third = poly.polyval(1.0, bend) / 6.0
    value, change = poly.polyval(1.0, top), poly.polyval(1.0, poly.polyder(top))
    # top/bottom = a/(x - 1)^2 + b/(x - 1) + ...; 1/(x-1)^2 has coefficients i + 1, 1/(x-1) has -1
    a = value / second
    b = (change - a * third) / second
    result += a * (index + 1) - b
    return result.real.tolist()
