"""Mean ranks of methods over many cases, and how far apart they have to be to mean something."""

from __future__ import annotations

import math

import numpy as np

from makespan.core.numeric.arrays import Floats

LEVEL = 0.05


def mean_ranks(values: Floats) -> Floats:
    """Return the mean rank of each column over the rows: 1 for the least, ties their mean.

    Complexity: O(rows × columns²).

    Source: Friedman 1937; Demšar 2006, section 3.2.2.

    >>> mean_ranks(np.array([[1.0, 2.0, 2.0], [5.0, 4.0, 6.0]]))
    array([1.5 , 1.75, 2.75])
    """
    ranks = np.empty_like(values)
    for column in range(values.shape[1]):
        own = values[:, column : column + 1]
        less, same = (values < own).sum(axis=1), (values == own).sum(axis=1)
        ranks[:, column] = less + (same + 1) / 2
    found: Floats = ranks.mean(axis=0)
    return found


def critical_difference(methods: int, cases: int) -> float:
    """Return how far the mean ranks of two methods have to differ, at a level of 5 %.

    Source: Nemenyi 1963; Demšar 2006, section 3.2.2, with the quantile of the studentized range
    over the square root of 2.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    quantile = _studentized_range(methods) / math.sqrt(2)
    return quantile * math.sqrt(methods * (methods + 1) / (6 * cases))


def _studentized_range(count: int) -> float:
    """Return the range of ``count`` standard normal numbers that one in twenty exceeds."""
    low, high = 0.0, 20.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if _range_within(middle, count) >= 1 - LEVEL else (middle, high)
    return high


def _range_within(width: float, count: int) -> float:
    """Return how likely ``count`` standard normal numbers are within ``width`` of each other.

    It is the integral over the largest, x, of count φ(x) (Φ(x) - Φ(x - width))^(count - 1).
    """
    x, step = np.linspace(-8.0, 8.0, 1601, retstep=True)
    below = np.array([math.erf(each / math.sqrt(2)) / 2 for each in (*x, *(x - width))])
    inside = below[: len(x)] - below[len(x) :]
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    return float(count * step * np.sum(density * inside ** (count - 1)))
