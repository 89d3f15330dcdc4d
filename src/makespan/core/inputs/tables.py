"""Lists of objects, or of the tables that stand for them in files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from makespan.core.costs import Affine, Convex, Price
from makespan.core.errors import Mistake, ProblemError
from makespan.core.inputs.mistakes import Mistakes, quoted
from makespan.core.inputs.suggest import did_you_mean

Item = TypeVar("Item")


def listed(values: object, kind: type[Item], place: str, what: str) -> tuple[Item, ...]:
    """Return what stands in a list; tables, as in files, become objects of this kind.

    A mapping gives each its name.

    Raises
    ------
    ProblemError
        If it is not a list, or not all that it holds is of this kind.
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

    A key is a field's name; null stands for nothing or for infinity where that is the default,
    and a table within the table for a cost.

    Raises
    ------
    ProblemError
        If it has keys that there are not, each with its place.

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
