"""Platforms as read-only columns of numbers: what stars and trees have in common."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.inputs.mistakes import Mistakes, number_fault, shown
from makespan.core.inputs.tables import listed
from makespan.core.names import Numbered

NOT_A_NAME = "is not a name; a name is a text, not empty"


class Columns:
    """Machines, their numbers in read-only columns of one entry each; the base of platforms.

    ``NUMBERS`` names the columns, ``DEFAULTS`` those that may be infinite, and are where nothing
    is said; the others are 0 there.
    """

    topology: ClassVar[str]
    ENTRIES: ClassVar[str]
    NUMBERS: ClassVar[tuple[str, ...]]
    DEFAULTS: ClassVar[Mapping[str, float]]

    names: Sequence[str]
    master: Any

    def _read(self, items: object, kind: type, prefix: str, first: int = 0) -> Sequence[Any]:
        """Take over a list of objects, or of the tables that files hold for them."""
        place, self._mistakes = f"platform.{self.ENTRIES}", Mistakes()
        crew: Sequence[Any] = listed(items, kind, place, self.ENTRIES)
        names = []
        for index, item in enumerate(crew):
            if not isinstance(item.name, str):
                self._mistakes.add(f"{place}[{index}].name", f"{shown(item.name)} {NOT_A_NAME}")
            names.append(item.name if item.name and isinstance(item.name, str) else "")
        self.names = tuple(name or f"{prefix}{k}" for k, name in enumerate(names, start=first))
        self._write(
            {
                name: [self._number(name, index, item) for index, item in enumerate(crew)]
                for name in self.NUMBERS
            },
            len(crew),
        )
        return crew

    def _number(self, column: str, index: int, item: Any) -> float:
        """Return the number of ``item`` that belongs into ``column``; NaN for a mistake."""
        of, _, part = column.partition("_")
        value = getattr(item, "return_" if of == "return" else of)
        if part:
            value = self.DEFAULTS.get(column, 0.0) if value is None else getattr(value, part)
        fault = number_fault(value, low=-math.inf, infinite=True)
        if fault is None:
            return float(value)
        place = self._place(column, index)
        self._mistakes.add(place, f"{shown(value)} {fault}; {allowed(column)}")
        return math.nan

    def _take(
        self,
        given: Mapping[str, ArrayLike],
        names: Sequence[str] | None,
        prefix: str,
        *,
        first: int = 0,
        count: int | None = None,
    ) -> None:
        """Take over columns of one length (``count``, where it is known), or scalars.

        Raises
        ------
        ProblemError
            If the lengths differ or an entry is not a number.
        """
        mistakes = Mistakes()
        columns: dict[str, Any] = {}
        for name, values in given.items():
            try:
                columns[name] = np.asarray(values, dtype=np.float64)
            except (TypeError, ValueError):
                mistakes.add(f"platform.{name}", f"{shown(values)} is not an array of numbers")
        if count is None:
            count = max((column.size for column in columns.values() if column.ndim), default=1)
            count = max(count, 0 if names is None else len(names))
        for name, column in columns.items():
            if column.ndim > 1 or (column.ndim == 1 and column.size != count):
                text = f"has shape {column.shape}; columns are scalars or of length {count}"
                mistakes.add(f"platform.{name}", text)
        if names is not None and len(names) != count:
            text = f"has {len(names)} names for {count} {self.ENTRIES}"
            mistakes.add("platform.names", text)
        mistakes.raise_if_any()
        names = Numbered(prefix, count, first=first) if names is None else names
        self.names = names if isinstance(names, Numbered) else tuple(names)
        self._write(columns, count)

    def _write(self, table: Mapping[str, ArrayLike], count: int) -> None:
        for name in self.NUMBERS:
            column = np.array(np.broadcast_to(np.asarray(table[name], dtype=np.float64), (count,)))
            column.flags.writeable = False
            setattr(self, name, column)

    def _place(self, column: str, index: int) -> str:
        return f"platform.{self.ENTRIES}[{index}].{column.replace('_', '.', 1)}"

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Columns)
        return (
            self.master == other.master
            and self.names == other.names
            and all(np.array_equal(getattr(self, n), getattr(other, n)) for n in self.NUMBERS)
        )

    __hash__ = None  # type: ignore[assignment]

    def collect_mistakes(self, mistakes: Mistakes) -> None:
        """Note everything that is wrong with the numbers and the names."""
        mistakes.extend(self._mistakes.found)
        known = frozenset(mistake.place for mistake in self._mistakes.found)
        for name in self.NUMBERS:
            mistakes.column(
                partial(self._place, name),
                getattr(self, name),
                allowed(name),
                infinite=name in self.DEFAULTS,
                known=known,
            )
        holder = getattr(self.master, "name", None)
        if isinstance(self.names, Numbered):
            if holder in self.names:
                text = f"{holder!r} is also a worker's; names are unique"
                mistakes.add("platform.master.name", text)
            return
        seen = {holder: "platform.master"} if isinstance(holder, str) else {}
        for index, name in enumerate(self.names):
            entry = f"platform.{self.ENTRIES}[{index}]"
            if not isinstance(name, str) or not name:
                mistakes.add(f"{entry}.name", f"{shown(name)} {NOT_A_NAME}")
            elif name in seen:
                text = f"{name!r} is also the name of {seen[name]}; names are unique"
                mistakes.add(f"{entry}.name", text)
            else:
                seen[name] = entry


def allowed(column: str) -> str:
    """Return the sentence that says which numbers a column may hold.

    >>> allowed("send_fixed")
    'a fixed cost is 0 or more seconds'
    """
    if column.startswith("price"):
        return "a price is 0 or more"
    what = "fixed cost" if column.endswith("fixed") else "cost per unit"
    return ALLOWED.get(column, f"a {what} is 0 or more seconds")


ALLOWED = {
    "memory": "the largest chunk is 0 or more units, or inf",
    "release": "a release time is 0 or more seconds",
    "deadline": "a deadline is 0 or more seconds, or inf",
}
