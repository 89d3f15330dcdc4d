"""What may vary in a problem, and within which ends."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from makespan.core.inputs.rules import Mistakes, quoted
from makespan.core.inputs.suggest import did_you_mean
from makespan.lab.adversary.document import Document, lists, numbers, pattern, put

DIGITS = 3  # of numbers that are drawn: a problem is to be read, too
FIXED = ("format", "shape")


@dataclass(frozen=True, slots=True)
class Range:
    """From where to where a number may be, or the length of a list."""

    low: float
    high: float
    whole: bool = False

    def drawn(self, rng: np.random.Generator) -> float:
        return self.rounded(rng.uniform(self.low, self.high))

    def rounded(self, value: float) -> float:
        """Return the nearest number that is allowed and short.

        >>> Range(0.0, 1.0).rounded(0.123456), Range(1, 5, whole=True).rounded(7.2)
        (0.123, 5)
        """
        value = min(self.high, max(self.low, value))
        if self.whole:
            return round(value)
        short = float(f"{value:.{DIGITS}g}")
        return min(self.high, max(self.low, short))


@dataclass(frozen=True, slots=True)
class Ranges:
    """What varies: numbers and lengths of lists by the pattern of their places.

    ``stock`` holds elements of lists, for lists that have become empty; ``least`` the lengths that
    the user asks for, which hold for a smaller problem, too.
    """

    numbers: Mapping[str, Range]
    lengths: Mapping[str, Range]
    stock: Mapping[str, Any]
    least: Mapping[str, float]

    def broken(self, document: Document) -> set[str]:
        """Return the lists that are too long or too short, by the pattern of their places."""
        found = ((pattern(path), len(value)) for path, value in lists(document))
        lengths = ((key, length, self.lengths.get(key)) for key, length in found)
        return {key for key, n, each in lengths if each and not each.low <= n <= each.high}


def ranges_of(samples: Iterable[Document], within: Mapping[str, Any], mistakes: Mistakes) -> Ranges:
    """Return what varies among samples of problems, with the ranges that are given instead.

    Numbers vary between the least and the greatest of the samples; one that is the same in all
    of them stays as it is. Lists may lose elements, and are never longer than in the samples.
    """
    found: dict[str, list[float]] = {}
    lengths: dict[str, list[int]] = {}
    stock: dict[str, Any] = {}
    least: dict[str, float] = {}
    for sample in samples:
        for path, value in numbers(sample):
            found.setdefault(pattern(path), []).append(value)
        for path, each in lists(sample):
            if path[-1] not in FIXED:
                lengths.setdefault(pattern(path), []).append(len(each))
                if each:
                    stock.setdefault(pattern(path), each[-1])
    whole = {key: all(float(v).is_integer() for v in values) for key, values in found.items()}
    vary = {
        key: Range(min(values), max(values), whole[key])
        for key, values in found.items()
        if min(values) < max(values)
    }
    sizes = {
        key: Range((min(values) + 1) // 2, max(values), whole=True)
        for key, values in lengths.items()
    }
    for asked, ends in within.items():
        place = f"within[{quoted(asked)}]"
        known = [key for key in (*found, *lengths) if fnmatch.fnmatchcase(key, asked)]
        if not known:
            hint = did_you_mean(asked, (*found, *lengths))
            mistakes.add(place, f"no number or list of this problem has this place{hint}")
        low, high = _ends(ends, place, mistakes)
        for key in known:
            if key in found:
                integral = whole[key] and float(low).is_integer() and float(high).is_integer()
                vary[key] = Range(low, high, integral)
            else:
                sizes[key] = Range(low, high, whole=True)
                least[key] = low
    vary = {key: each for key, each in vary.items() if each.low < each.high}
    return Ranges(vary, sizes, stock, least)


def _ends(given: Any, place: str, mistakes: Mistakes) -> tuple[float, float]:
    """Return the two ends of a range; on a mistake, note it."""
    try:
        low, high = given
        if not all(isinstance(each, (int, float)) and math.isfinite(each) for each in (low, high)):
            raise TypeError
    except (TypeError, ValueError):
        mistakes.add(place, f"{quoted(given)} is not a pair of numbers, the least and the greatest")
        return 0.0, 0.0
    if low > high:
        mistakes.add(place, f"the least, {low:g}, is above the greatest, {high:g}")
    return low, high


def fitted(document: Document, ranges: Ranges, rng: np.random.Generator) -> Document:
    """Return a start whose numbers lie within the ranges: those outside are drawn anew."""
    for path, value in list(numbers(document)):
        allowed = ranges.numbers.get(pattern(path))
        if allowed is not None and not allowed.low <= value <= allowed.high:
            document = put(document, path, allowed.drawn(rng))
    return document
