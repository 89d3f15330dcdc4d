"""Collecting every mistake of an input before refusing it."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from makespan.core.errors import InputError, Mistake, ProblemError

SHOWN_PER_COLUMN = 20
LEAST, GREATEST = 1e-100, 1e100  # magnitudes allowed; 0 is, too


class Mistakes:
    """The mistakes found so far in one input.

    >>> mistakes = Mistakes()
    >>> mistakes.number("load", -1.0, "a load is 0 or more")
    nan
    >>> mistakes.raise_if_any()
    Traceback (most recent call last):
    makespan.core.errors.ProblemError: load: -1.0 is negative; a load is 0 or more
    """

    def __init__(self) -> None:
        self._found: list[Mistake] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    @property
    def found(self) -> tuple[Mistake, ...]:
        return tuple(self._found)

    def add(self, place: str, message: str) -> None:
        self._found.append(Mistake(place, message))

    def extend(self, others: tuple[Mistake, ...]) -> None:
        self._found.extend(others)

    def number(
        self,
        place: str,
        value: Any,
        allowed: str,
        *,
        low: float = 0.0,
        strictly: bool = False,
        infinite: bool = False,
    ) -> float:
        """Return ``value`` as a float; on a mistake, note it and return NaN."""
        fault = number_fault(value, low=low, strictly=strictly, infinite=infinite)
        if fault is None:
            return float(value)
        self.add(place, f"{shown(value)} {fault}; {allowed}")
        return math.nan

    def column(
        self,
        place: Callable[[int], str],
        values: np.ndarray,
        allowed: str,
        *,
        infinite: bool = False,
        known: frozenset[str] = frozenset(),
    ) -> None:
        """Note every entry that is NaN, negative, (unless ``infinite``) infinite, or of a magnitude
        that is not allowed.

        ``known`` holds places whose mistake was noted before.
        """
        if _plainly_fine(values, infinite=infinite):
            return
        wrong = ~(values >= 0) | out_of_range(values)
        if not infinite:
            wrong |= ~(values < np.inf)
        indices = np.flatnonzero(wrong)
        for index in indices[:SHOWN_PER_COLUMN]:
            value = float(values[index])
            if place(int(index)) not in known:
                fault = number_fault(value, low=0.0, infinite=infinite)
                self.add(place(int(index)), f"{value} {fault}; {allowed}")
        if len(indices) > SHOWN_PER_COLUMN:
            more = len(indices) - SHOWN_PER_COLUMN
            self.add(place(int(indices[SHOWN_PER_COLUMN])), f"and {more} more such entries")

    def raise_if_any(self, error: type[InputError] = ProblemError, heading: str = "") -> None:
        if self._found:
            raise error(self._found, heading)


def shown(value: Any) -> str:
    """Return ``value`` as it is shown in a message: short, whatever it is."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # thousands of digits, or nested without end
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _plainly_fine(values: np.ndarray, *, infinite: bool) -> bool:
    """Whether the least and the greatest entry show that none is wrong; takes no memory."""
    if not len(values):
        return True
    least, greatest = values.min(), values.max()  # NaN where there is one
    if least == greatest:
        return bool(least == 0.0 or LEAST <= least <= GREATEST or (infinite and least == np.inf))
    return bool(least >= LEAST and greatest <= GREATEST)


def out_of_range(values: np.ndarray) -> np.ndarray:
    """Return which finite ``values`` have a magnitude that is not allowed.

    A magnitude is 0, or from 1e-100 to 1e100: what is multiplied or added up then stays within
    the range of floats.

    >>> out_of_range(np.array([0.0, 1.0, 1e300, -1e-200, np.inf])).tolist()
    [False, False, True, True, False]
    """
    size = np.abs(values)
    found: np.ndarray = ((size > GREATEST) & (size < np.inf)) | ((size < LEAST) & (size > 0))
    return found


def number_fault(
    value: Any,
    *,
    low: float = 0.0,
    strictly: bool = False,
    infinite: bool = False,
    any_magnitude: bool = False,
) -> str | None:
    """Say what is wrong with ``value`` as a number, or None.

    ``any_magnitude`` allows what :func:`out_of_range` finds, for numbers that were computed.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        return "is not a number"
    try:
        number = float(value)
    except OverflowError:
        return f"is above {GREATEST:g}, the greatest magnitude allowed"
    if math.isnan(number):
        return "is not a number"
    if math.isinf(number) and not (infinite and number > 0):
        return "is infinite"
    if number < low:
        return "is negative" if low == 0 else f"is below {low:g}"
    if strictly and number == low:
        return "is zero" if low == 0 else f"is not above {low:g}"
    if any_magnitude or number == 0 or math.isinf(number):
        return None
    if abs(number) > GREATEST:
        return f"is above {GREATEST:g}, the greatest magnitude allowed"
    if abs(number) < LEAST:
        return f"is below {LEAST:g}, the least magnitude allowed besides 0"
    return None
