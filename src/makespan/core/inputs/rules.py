"""Which numbers may stand where, stated once; and every mistake of an input, before it is refused.

The model that holds the number, the form that reads it from files, and the JSON Schema of the
files all take the range from the same :class:`Rule`, which stands next to the model.
"""

import math
import operator
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np

from makespan.core.errors import InputError, Mistake, ProblemError

SHOWN_PER_COLUMN = 20
NO_NAME = "is not a name; a name is a text, not empty"
LEAST, GREATEST = 1e-100, 1e100  # magnitudes allowed; 0 is, too


@dataclass(frozen=True, slots=True)
class Rule:
    """A range of numbers, and the sentence that says it.

    What is multiplied or added up stays within the range of floats: a magnitude is 0, or from
    1e-100 to 1e100.

    >>> SPEED = Rule("a speed is above 0", strictly=True)
    >>> SPEED.fault(0), SPEED.fault(2.5), SPEED.fault("fast")
    ('is zero', None, 'is not a number')
    >>> SPEED.wrong(np.array([1.0, 0.0, np.nan, np.inf])).tolist()
    [1, 2, 3]
    """

    allowed: str = ""  # the sentence that says it
    low: float = 0.0  # the least number allowed
    high: float = math.inf  # the greatest
    strictly: bool = False  # ``low`` itself is not allowed
    infinite: bool = False  # whether ``inf`` is allowed, which is null in JSON
    whole: bool = False  # whether only whole numbers are
    words: tuple[str, ...] = ()  # texts that may stand in place of the number
    any_magnitude: bool = False  # for numbers that were computed: none is too small or too great

    def fault(self, value: Any) -> str | None:
        """Say what is wrong with ``value``, or None."""
        if isinstance(value, str) and value in self.words:
            return None
        if isinstance(value, (bool, np.bool_)) or not issubclass(type(value), Real):
            return "is not allowed" if self.words else f"is not a {self._what}"
        try:
            number = float(value)
        except OverflowError:
            return self._above if value > 0 else "is negative"
        if math.isnan(number):
            return f"is not a {self._what}"
        if math.isinf(number) and not (self.infinite and number > 0):
            return "is infinite"
        if self.whole:
            if not hasattr(value, "__index__"):
                return "is not a whole number"
            number = operator.index(value)  # floats skip whole numbers
        if number < self.low:
            return "is negative" if self.low == 0 else f"is below {self.low:g}"
        if self.strictly and number == self.low:
            return "is zero" if self.low == 0 else f"is not above {self.low:g}"
        if math.isinf(number):
            return None
        if number > self.high or (abs(number) > GREATEST and not self.any_magnitude):
            return self._above
        if 0 < abs(number) < LEAST and not self.any_magnitude:
            return f"is below {LEAST:g}, the least magnitude allowed besides 0"
        return None

    @property
    def _above(self) -> str:
        if self.high < GREATEST:
            return f"is above {self.high:,}"
        return f"is above {GREATEST:g}, the greatest magnitude allowed"

    @property
    def _what(self) -> str:
        return "whole number" if self.whole else "number"

    def wrong(self, values: Sequence[Any] | np.ndarray) -> np.ndarray:
        """Return the indices of the entries that are not allowed.

        An array is told in a pass; where its least and greatest entry show that none is wrong,
        that takes no memory.
        """
        if not isinstance(values, np.ndarray):
            faults = (index for index, value in enumerate(values) if self.fault(value))
            return np.fromiter(faults, dtype=np.int64)
        if not len(values) or self._plainly_fine(values.min(), values.max()):
            return np.zeros(0, dtype=np.int64)
        size = np.abs(values)
        wrong = ~(values > self.low if self.strictly else values >= self.low)
        wrong |= (np.minimum(self.high, GREATEST) < size) & (size < np.inf)
        wrong |= (size > 0) & (size < LEAST)
        if not self.infinite:
            wrong |= ~(size < np.inf)
        if self.whole:
            wrong |= values != np.floor(values)
        return np.flatnonzero(wrong)

    def _plainly_fine(self, least: float, greatest: float) -> bool:
        """Whether these two show that no entry between them is wrong; they may be NaN."""
        if least == greatest:
            whole = self.whole and float(least).is_integer()
            return self.fault(int(least) if whole else float(least)) is None
        if self.whole:
            return False
        return bool(
            least >= max(LEAST, self.low)
            and greatest <= min(GREATEST, self.high)
            and not (self.strictly and least == self.low)
        )

    def keywords(self) -> dict[str, Any]:
        """Return the JSON Schema of the rule.

        >>> Rule("a share", high=1.0).keywords()["maximum"]
        1.0
        """
        described: dict[str, Any] = {
            "type": "integer" if self.whole else "number",
            "minimum": LEAST if self.strictly and self.low == 0 else self.low,
            "maximum": min(self.high, GREATEST),
        }
        if self.low == 0 and not self.strictly and not self.whole:
            described["not"] = {"exclusiveMinimum": 0, "exclusiveMaximum": LEAST}
        others: list[dict[str, Any]] = [{"enum": list(self.words)}] if self.words else []
        if self.infinite:  # TOML's inf is above all floats
            others += [{"type": "number", "exclusiveMinimum": sys.float_info.max}, {"type": "null"}]
        found = {"anyOf": [described, *others]} if others else described
        return {**found, "description": self.allowed} if self.allowed else found


def whole(what: str, low: int = 1, high: float = math.inf, *, words: tuple[str, ...] = ()) -> Rule:
    """Return the rule of whole numbers in a range.

    >>> whole("segments are", words=("auto",)).allowed
    "segments are a whole number from 1, or 'auto'"
    """
    most = f" to {high:,}" if math.isfinite(high) else ""
    others = "".join(f", or {word!r}" for word in words)
    allowed = f"{what} a whole number from {low}{most}{others}"
    return Rule(allowed, low=low, high=high, whole=True, words=words)


def plain_floats(values: Any) -> np.ndarray | None:
    """Return a list or array of numbers as floats; None where an entry is not plainly one.

    >>> plain_floats([1, 2.5]), plain_floats([1, True])
    (array([1. , 2.5]), None)
    """
    if isinstance(values, np.ndarray):
        plain = values.ndim == 1 and values.dtype.kind in "iuf"
        return values.astype(np.float64, copy=False) if plain else None
    if not set(map(type, values)) <= {int, float}:
        return None
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        return None


SECONDS = Rule("seconds are 0 or more")
FIXED_COST = Rule("a fixed cost is 0 or more seconds")
UNIT_COST = Rule("a cost per unit is 0 or more seconds")
DEADLINE = Rule("a deadline is 0 or more seconds")


class Mistakes:
    """The mistakes found so far in one input.

    >>> mistakes = Mistakes()
    >>> mistakes.number("load", -1.0, Rule("a load is 0 or more"))
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

    def number(self, place: str, value: Any, rule: Rule) -> float:
        """Return ``value`` as a float; on a mistake, note it and return NaN."""
        text = refusal(value, rule)
        if text is None:
            return float(value)
        self.add(place, text)
        return math.nan

    def column(
        self,
        place: Callable[[int], str],
        values: Sequence[Any] | np.ndarray,
        rule: Rule,
        *,
        known: frozenset[str] = frozenset(),
    ) -> np.ndarray:
        """Return a list of numbers as floats; note every entry refused, but at places ``known``."""
        plain = plain_floats(values)
        wrong = rule.wrong(list(values) if plain is None else plain).tolist()
        for index in wrong[:SHOWN_PER_COLUMN]:
            if place(index) not in known:
                value = values[index]
                if isinstance(value, np.generic):
                    value = value.item()
                if rule.whole and isinstance(value, float) and value.is_integer():
                    value = int(value)
                self.add(place(index), str(refusal(value, rule)))
        if len(wrong) > SHOWN_PER_COLUMN:
            more = len(wrong) - SHOWN_PER_COLUMN
            self.add(place(wrong[SHOWN_PER_COLUMN]), f"and {more} more such entries")
        if plain is None:
            refused = set(wrong)
            entries = (math.nan if i in refused else float(v) for i, v in enumerate(values))
            plain = np.fromiter(entries, dtype=np.float64)
        return plain

    def choice(self, place: str, value: Any, allowed: Sequence[str | int]) -> None:
        """Note ``value`` where it is none of those ``allowed``."""
        if isinstance(value, bool) or not isinstance(value, (str, int)) or value not in allowed:
            *others, last = map(repr, allowed)
            words = f"{', '.join(others)} or {last}"
            self.add(place, f"{quoted(value)} is not allowed; it is {words}")

    def flag(self, place: str, value: Any) -> None:
        """Note ``value`` where it is neither True nor False."""
        if not isinstance(value, bool):
            self.add(place, f"{quoted(value)} is not true or false")

    def names(
        self,
        place: Callable[[int], str],
        names: Iterable[Any],
        taken: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Note every entry that is not a name, or that another has; places by name ``taken``."""
        seen: dict[str, int | str] = dict(taken)
        for index, name in enumerate(names):
            if not isinstance(name, str) or not name:
                self.add(place(index), f"{quoted(name)} {NO_NAME}")
            elif name in seen:
                found = seen[name]
                where = place(found).removesuffix(".name") if isinstance(found, int) else found
                self.add(place(index), f"{name!r} is also the name of {where}; names differ")
            else:
                seen[name] = index

    def raise_if_any(self, error: type[InputError] = ProblemError, heading: str = "") -> None:
        if self._found:
            raise error(self._found, heading)


def quoted(value: Any) -> str:
    """Return ``value`` as it is shown in a message: short, whatever it is."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # thousands of digits, or nested without end
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def refusal(value: Any, rule: Rule) -> str | None:
    """Say what was found, what is wrong with it, and what is allowed; None if it is.

    >>> refusal(-1, Rule("a load is 0 or more"))
    '-1 is negative; a load is 0 or more'
    """
    fault = rule.fault(value)
    return None if fault is None else f"{quoted(value)} {fault}; {rule.allowed}"


def ragged(rows: Any) -> str | None:
    """Say that the rows of a table differ in length; None where they don't.

    >>> ragged([[1.0], [2.0, 3.0]])
    'has rows of 1 to 2 entries'
    """
    if not isinstance(rows, (list, tuple)):
        return None
    lengths = {len(row) for row in rows if isinstance(row, (list, tuple, np.ndarray))}
    return f"has rows of {min(lengths)} to {max(lengths)} entries" if len(lengths) > 1 else None
