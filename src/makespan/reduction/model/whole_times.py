"""Times as whole numbers of a common unit, found from the numbers as they were written."""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Floats

LARGEST_DENOMINATOR = 10**9
LARGEST_WHOLE = 2**40
LARGEST_EXACT = 1e15  # decimals of so many digits are floats of their own
SAMPLE = 50
MAX_FRACTIONS = 5_000


def as_fraction(value: Any) -> Fraction | None:
    """Return the rational number that ``value`` was written as, or None where there is none.

    A float is read as the shortest decimal that it prints as, else as a fraction with a
    denominator up to a million that rounds to it.

    >>> as_fraction(0.1), as_fraction(1 / 3), as_fraction(2)
    (Fraction(1, 10), Fraction(1, 3), Fraction(2, 1))
    >>> as_fraction(2 ** 0.5) is None
    True
    """
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    number = float(value)
    written = Fraction(repr(number))
    if written.denominator <= LARGEST_DENOMINATOR:
        return written
    near = Fraction(number).limit_denominator(10**6)
    return near if float(near) == number else None


def common_unit(values: Iterable[Any]) -> Fraction | None:
    """Return the largest unit of which all ``values`` are whole multiples, or None.

    None where a value is not rational in the sense of :func:`as_fraction`, or where the
    multiples would not fit into 40 bits. The unit of zeros is 1.

    >>> common_unit([0.1, 1, 0.3]), common_unit([2, 4]), common_unit([1, 2 ** 0.5])
    (Fraction(1, 10), Fraction(2, 1), None)
    """
    unit, largest = Fraction(0), Fraction(0)
    for value in dict.fromkeys(values):
        fraction = as_fraction(value)
        if fraction is None:
            return None
        denominator = unit.denominator * fraction.denominator
        divisor = math.gcd(
            unit.numerator * fraction.denominator, fraction.numerator * unit.denominator
        )
        unit, largest = Fraction(divisor, denominator), max(largest, fraction)
        if largest > LARGEST_WHOLE * unit:
            return None
    return unit or Fraction(1)


def common_unit_of(values: Floats) -> Fraction | None:
    """Return the common unit of the entries of an array; None also for many odd fractions.

    Decimals are read at once, others one by one.

    >>> common_unit_of(np.array([0.25, 1.5])), common_unit_of(np.array([1 / 3, 1.0]))
    (Fraction(1, 4), Fraction(1, 3))
    """
    flat = values.ravel()
    if any(as_fraction(value) is None for value in flat[:: len(flat) // SAMPLE + 1].tolist()):
        return None
    for digits in range(10):
        whole = np.rint(flat * 10.0**digits)
        if whole.max(initial=0.0) >= LARGEST_EXACT:
            break
        if np.array_equal(whole / 10.0**digits, flat):
            divisor = int(np.gcd.reduce(whole.astype(np.int64)))
            if whole.max(initial=0.0) > LARGEST_WHOLE * divisor:
                return None if divisor else Fraction(1)
            return Fraction(divisor or 1, 10**digits if divisor else 1)
    distinct = np.unique(flat)
    return None if len(distinct) > MAX_FRACTIONS else common_unit(distinct.tolist())
