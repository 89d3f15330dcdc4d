"""Answers → tables, whatever the kind: values of the same keys stand beside each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MAX_WORDS = 12  # in one cell

Cell = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Columns of one length with their names; a ``caption`` where these don't say enough."""

    caption: str
    names: tuple[str, ...]
    columns: tuple[tuple[Cell, ...], ...]

    def as_dict(self) -> dict[str, Any]:
        return {"caption": self.caption, "names": self.names, "columns": self.columns}


def answer_tables(answer: Mapping[str, Any]) -> tuple[Table, ...]:
    """Return an answer as tables.

    What has one value, or a few words, stands in the first table; tables of the same keys become
    the columns of one, and so do lists of one length; a list of tables becomes one.

    >>> [table.names for table in answer_tables({"loads": {"A": 1.0}, "end": {"A": 2.0}})]
    [('', 'loads', 'end')]
    """
    single: dict[str, Any] = {}
    by_key: dict[tuple[str, ...], dict[str, Sequence[Any]]] = {}
    by_length: dict[int, dict[str, Sequence[Any]]] = {}
    found: list[Table] = []
    for name, value in answer.items():
        if isinstance(value, Mapping) and value:
            by_key.setdefault(tuple(map(str, value)), {})[name] = tuple(value.values())
        elif _is_list(value) and value and all(isinstance(part, Mapping) for part in value):
            found.append(_of_records(name, value))
        elif (
            _is_list(value)
            and value
            and (len(value) > MAX_WORDS or not all(isinstance(part, str) for part in value))
        ):
            by_length.setdefault(len(value), {})[name] = value
        else:
            single[name] = value
    keyed = [_beside("", keys, parts) for keys, parts in by_key.items()]
    counted = [_beside("index", range(count), parts) for count, parts in by_length.items()]
    return (*_of_values(single), *keyed, *counted, *found)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _of_values(values: Mapping[str, Any]) -> tuple[Table, ...]:
    if not values:
        return ()
    cells = tuple(_cell(value) for value in values.values())
    return (Table(caption="", names=("", ""), columns=(tuple(values), cells)),)


def _beside(head: str, keys: Sequence[Any], parts: Mapping[str, Sequence[Any]]) -> Table:
    columns = [tuple(map(_cell, part)) for part in parts.values()]
    return Table(caption="", names=(head, *parts), columns=(tuple(map(_cell, keys)), *columns))


def _of_records(name: str, records: Sequence[Mapping[str, Any]]) -> Table:
    names = tuple(dict.fromkeys(key for record in records for key in record))
    columns = tuple(tuple(_cell(record.get(key)) for record in records) for key in names)
    return Table(caption=name, names=names, columns=columns)


def _cell(value: Any) -> Cell:
    """Return what stands in a cell: numbers as they are, lists and tables as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_cell(part)}" for key, part in value.items())
    if _is_list(value):
        return ", ".join(str(_cell(part)) for part in value)
    return str(value)
