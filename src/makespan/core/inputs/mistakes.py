"""Collecting every mistake of an input before refusing it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from makespan.core.errors import InputError, Mistake, ProblemError
from makespan.core.inputs.rules import Rule, plain_floats

SHOWN_PER_COLUMN = 20
NO_NAME = "is not a name; a name is a text, not empty"


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
        """Return a list of numbers as floats; note every entry that the rule refuses.

        ``known`` holds places whose mistake was noted before.
        """
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
