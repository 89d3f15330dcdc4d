"""Platforms as read-only columns of numbers, made of lists of objects or of tables for them."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.costs import Affine, Convex, Price
from makespan.core.errors import Mistake, ProblemError
from makespan.core.inputs.rules import NO_NAME, Mistakes, Rule, quoted
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.names import Numbered
from makespan.core.numeric.arrays import equal_in, frozen


class Columns:
    """Machines, their numbers in read-only columns of one entry each; the base of platforms.

    ``RULES`` names the columns; those that may be infinite are where nothing is said, the others
    are 0 there.
    """

    topology: ClassVar[str]
    ENTRIES: ClassVar[str]
    IS: ClassVar[str]  # what the platform is, in the words of a method that needs another
    FIELDS: ClassVar[tuple[str, ...] | None] = None
    """The fields that a problem on it can have, besides it; None: all."""
    RULES: ClassVar[Mapping[str, Rule]]

    names: Sequence[str]
    master: Any

    def _read(self, items: object, kind: type, prefix: str, first: int = 0) -> Sequence[Any]:
        """Take over a list of objects, or of the tables that files hold for them."""
        place, self._mistakes = f"platform.{self.ENTRIES}", Mistakes()
        crew: Sequence[Any] = listed(items, kind, place, self.ENTRIES)
        names = []
        for index, item in enumerate(crew):
            if not isinstance(item.name, str):
                self._mistakes.add(f"{place}[{index}].name", f"{quoted(item.name)} {NO_NAME}")
            names.append(item.name if item.name and isinstance(item.name, str) else "")
        self.names = tuple(name or f"{prefix}{k}" for k, name in enumerate(names, start=first))
        self._write(
            {
                name: self._mistakes.column(
                    self.place(name), [self._part(name, item) for item in crew], rule
                )
                for name, rule in self.RULES.items()
            },
            len(crew),
        )
        return crew

    def _part(self, column: str, item: Any) -> Any:
        """Return the number of ``item`` that belongs into ``column``."""
        of, _, part = column.partition("_")
        value = getattr(item, "return_" if of == "return" else of)
        if not part:
            return value
        if value is None:
            return math.inf if self.RULES[column].infinite else 0.0
        return getattr(value, part, 0.0)  # a price without anything per second has no such part

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

        Raises ProblemError if the lengths differ or an entry is not a number.
        """
        mistakes = Mistakes()
        columns: dict[str, Any] = {}
        for name, values in given.items():
            try:
                columns[name] = np.asarray(values, dtype=np.float64)
            except (TypeError, ValueError):
                mistakes.add(f"platform.{name}", f"{quoted(values)} is not an array of numbers")
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
        for name in self.RULES:
            column = np.broadcast_to(np.asarray(table[name], dtype=np.float64), (count,))
            setattr(self, name, frozen(np.array(column)))

    def place(self, column: str) -> Callable[[int], str]:
        """Return where in the problem the entries of a column stand, by index."""
        return f"platform.{self.ENTRIES}[{{}}].{column.replace('_', '.', 1)}".format

    def _cost(self, of: str, index: int | tuple[int, int]) -> Affine:
        fixed, per_unit = getattr(self, f"{of}_fixed"), getattr(self, f"{of}_per_unit")
        return Affine(float(fixed[index]), float(per_unit[index]))

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Columns)
        return equal_in(("master", "names", *self.RULES), self, other)

    __hash__ = None  # type: ignore[assignment]

    def collect_mistakes(self, mistakes: Mistakes) -> None:
        """Note everything that is wrong with the numbers and the names."""
        mistakes.extend(self._mistakes.found)
        known = frozenset(mistake.place for mistake in self._mistakes.found)
        for name, rule in self.RULES.items():
            mistakes.column(self.place(name), getattr(self, name), rule, known=known)
        taken = self._taken
        if not isinstance(self.names, Numbered):
            mistakes.names(self.place("name"), self.names, taken)
            return
        for holder, place in taken.items():
            if holder in self.names:
                mistakes.add(f"{place}.name", f"{holder!r} is also a worker's; names differ")

    @property
    def _taken(self) -> Mapping[str, str]:
        """Where the other machines stand whose names the entries can't have, by name."""
        holder = getattr(self.master, "name", None)
        return {holder: "platform.master"} if isinstance(holder, str) else {}


Item = TypeVar("Item")


def listed(values: object, kind: type[Item], place: str, what: str) -> tuple[Item, ...]:
    """Return what stands in a list; tables, as in files, become objects of this kind.

    A mapping gives each its name. Raises ProblemError if it is not a list, or not all that it holds
    is of this kind.
    """
    if isinstance(values, Mapping) and all(isinstance(v, (kind, Mapping)) for v in values.values()):
        values = [
            {**item, "name": name} if isinstance(item, Mapping) else replace(item, name=name)
            for name, item in values.items()
        ]
    if not isinstance(values, Iterable) or isinstance(values, (str, Mapping)):
        raise ProblemError((Mistake(place, f"{quoted(values)} is not a list of {what}"),))
    items, mistakes = list(values), Mistakes()
    for index, item in enumerate(items):
        here = f"{place}[{index}]"
        if isinstance(item, Mapping):
            items[index] = _build(kind, item, here, mistakes)
        elif not isinstance(item, kind):
            mistakes.add(here, f"{quoted(item)} is not a {kind.__name__}")
    mistakes.raise_if_any()
    return tuple(items)


def from_table(kind: type[Item], table: Mapping[str, Any], place: str) -> Item:
    """Return the ``kind``, a dataclass, that a table as in files stands for.

    A key is a field's name; null stands for nothing or for infinity where that is the default, and
    a table within the table for a cost. Raises ProblemError if it has keys that there are not, each
    with its place.

    >>> from_table(Affine, {"fixed": 1.0, "perunit": 2.0}, "send")
    Traceback (most recent call last):
    makespan.core.errors.ProblemError: send: unknown key 'perunit'; did you mean 'per_unit'?
    """
    mistakes = Mistakes()
    made = _build(kind, table, place, mistakes)
    mistakes.raise_if_any()
    return made


def _kind_of_cost(key: str, table: Mapping[str, Any]) -> type[Affine]:
    """Return the cost that a table stands for, by the part that only it has."""
    if key == "price" and "per_second" in table:
        return Price
    return Convex if key == "compute" and "beyond" in table else Affine


def _build(kind: type[Item], table: Mapping[str, Any], place: str, mistakes: Mistakes) -> Item:
    known = {field.name.rstrip("_"): field for field in fields(kind)}  # type: ignore[arg-type]
    given: dict[str, Any] = {}
    for key, value in table.items():
        if key not in known:
            mistakes.add(place, f"unknown key {quoted(key)}{did_you_mean(key, known)}")
        elif value is not None or known[key].default not in (None, math.inf):
            cost = isinstance(value, Mapping)
            made = _kind_of_cost(key, value if cost else {})
            given[known[key].name] = (
                _build(made, value, f"{place}.{key}", mistakes) if cost else value
            )
    return kind(**given)
