"""Times as whole numbers of a common unit, found from the numbers as they were written."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

LARGEST_DENOMINATOR = 10**9
LARGEST_WHOLE = 2**40


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
    fractions = []
    for value in dict.fromkeys(values):
        fraction = as_fraction(value)
        if fraction is None:
            return None
        fractions.append(fraction)
    denominator = math.lcm(*(fraction.denominator for fraction in fractions))
    numerators = [int(fraction * denominator) for fraction in fractions]
    divisor = math.gcd(*numerators)
    if divisor == 0:
        return Fraction(1)
    if max(numerators) // divisor > LARGEST_WHOLE:
        return None
    return Fraction(divisor, denominator)


def in_units(value: Any, unit: Fraction) -> int:
    """Return ``value`` as a whole number of units."""
    fraction = as_fraction(value)
    assert fraction is not None
    return int(fraction / unit)
