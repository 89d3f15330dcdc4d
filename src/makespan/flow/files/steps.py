"""The steps in a result's file."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from makespan.core.steps import Slot, Step, Table

LIST = (list, tuple)
WORDS = {dict: "a table", str: "a text", LIST: "a list", int: "a whole number"}


def step_of(data: Any) -> Step:
    """Return the step that a file holds; its cells stand in no file.

    Raises
    ------
    ValueError
        If it is not what :meth:`makespan.core.steps.Step.as_dict` gives.

    >>> step = Step(text="a", items={"ready": (1, 2)}, groups={3: 0})
    >>> step_of(step.as_dict()) == step
    True
    >>> step_of({"text": "a", "items": [1]})
    Traceback (most recent call last):
        ...
    ValueError: items: [1] is not a table
    """
    given = _typed(data, dict, "a step")
    if unknown := given.keys() - {part.name for part in fields(Step)}:
        raise ValueError(f"there is no {min(map(str, unknown))!r} in a step")
    time, since = given.get("time"), given.get("since")
    groups = _typed(given.get("groups", {}), dict, "groups").items()
    values = _typed(given.get("values", {}), dict, "values").items()
    return Step(
        text=_typed(given.get("text"), str, "text"),
        items=_states(given.get("items", {}), "items"),
        edges=_states(given.get("edges", {}), "edges"),
        groups={int(item): _typed(group, int, "groups") for item, group in groups},
        slots=tuple(map(_slot, _typed(given.get("slots", ()), LIST, "slots"))),
        tables=tuple(map(_table, _typed(given.get("tables", ()), LIST, "tables"))),
        time=None if time is None else _number(time, "time"),
        since=None if since is None else _number(since, "since"),
        values={str(name): _number(value, "values") for name, value in values},
    )


def _states(data: Any, name: str) -> dict[str, tuple[int, ...]]:
    states = _typed(data, dict, name).items()
    return {str(state): _all(some, int, name) for state, some in states}


def _slot(data: Any) -> Slot:
    machine, start, end, state = _typed(data, LIST, "slots")
    times = _number(start, "slots"), _number(end, "slots")
    return Slot(_typed(machine, str, "slots"), *times, _typed(state, str, "slots"))


def _table(data: Any) -> Table:
    given = _typed(data, dict, "tables")
    title, chosen = _typed(given.get("title"), str, "title"), given.get("chosen")
    names = _all(given.get("names"), str, "names")
    rows = [_typed(row, LIST, "rows") for row in _typed(given.get("rows"), LIST, "rows")]
    if any(len(row) != len(names) for row in rows):
        raise ValueError("rows: they are not as long as the names")
    cells = tuple(
        tuple(cell if isinstance(cell, str) else _number(cell, "rows") for cell in row)
        for row in rows
    )
    return Table(title, names, cells, _typed(chosen, int, "chosen"))


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{name}: {value!r:.40} is not a finite number")
    return value


def _all(data: Any, kind: type, name: str) -> tuple[Any, ...]:
    return tuple(_typed(each, kind, name) for each in _typed(data, LIST, name))


def _typed(value: Any, kind: Any, name: str) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{name}: {value!r:.40} is not {WORDS[kind]}")
    return value
