"""The steps of a method: lines for people, and what a player shows of them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

MAX_ROWS = 12  # rows of a table beside a step
MAX_COLUMNS = 8  # machines up to which each has a column of its own in a printed table


class Slot(NamedTuple):
    """A time on a machine: ``tried``, ``chosen``, or the ``gap`` that was filled."""

    machine: str
    start: float
    end: float
    state: str = "tried"


class Table(NamedTuple):
    """What a step chose from; ``chosen`` is the row that was taken, -1 for none."""

    title: str
    names: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]
    chosen: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of a method; ``cells`` are the same as its text, as a row of a table that ``--log``
    prints.

    Items are tasks (or segments) and, like edges, stand by index in a state: ``ready``, ``chosen``,
    ``placed``, ``examined``, ``dominant``, ``zeroed``, ``refused``. The states ``placed``,
    ``zeroed`` and ``refused`` last; others are those of one step. What starts later than ``time``,
    or of methods that plan backwards earlier than ``since``, is not decided yet. ``groups`` are
    items and the cluster that each is in from now on; ``values`` what is reached so far, such as
    the parallel time.
    """

    text: str  # the line of the log
    cells: Mapping[str, str | float] = field(default_factory=dict)
    items: Mapping[str, Sequence[int]] = field(default_factory=dict)
    edges: Mapping[str, Sequence[int]] = field(default_factory=dict)
    groups: Mapping[int, int] = field(default_factory=dict)
    slots: Sequence[Slot] = ()  # times on machines
    tables: Sequence[Table] = ()  # the queue with its priorities, the ends on the machines
    time: float | None = None  # None where items are placed, or nothing is
    since: float | None = None
    values: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_told(self) -> bool:
        """Whether there is more to show than the line."""
        return len(self.as_dict()) > 1

    def as_dict(self) -> dict[str, Any]:
        """Return what is not empty, as a page and a file of a result have it."""
        data = {part.name: getattr(self, part.name) for part in fields(self)}
        del data["cells"]
        data["tables"] = [table._asdict() for table in self.tables]
        return {name: value for name, value in data.items() if value not in ((), [], {}, None)}


def number(value: float) -> str:
    """Return a number as it is shown in a log: short.

    >>> number(14.0), number(14.318), number(0.0123456), number(123456.7), number(2e9)
    ('14', '14.32', '0.01235', '123456.7', '2e+09')
    """
    size = abs(value)
    if size < 0.1 or size >= 1e8:
        return f"{value:.4g}"
    return f"{value:.2f}".rstrip("0").rstrip(".")


def listed(parts: Iterable[str], most: int | None = None) -> str:
    """Return the parts separated by commas, at most so many; a dash for none.

    >>> listed("abcd", 2), listed("")
    ('a, b and 2 more', '–')
    """
    parts = tuple(parts)
    if most is not None and len(parts) > most:
        return f"{', '.join(parts[:most])} and {len(parts) - most} more"
    return ", ".join(parts) or "–"


def printed(steps: Sequence[Step]) -> list[str]:
    """Return steps as lines: those with the same cells as a table with a head.

    >>> rows = [Step(text="", cells={"t": t, "task": n}) for t, n in ((0, "a"), (14.318, "b"))]
    >>> for line in printed([*rows, Step(text="done")]):
    ...     print(line)
        t  task
        0  a
    14.32  b
    done
    """
    lines: list[str] = []
    block: list[Step] = []
    for step in [*steps, None]:
        if block and (step is None or tuple(step.cells) != tuple(block[0].cells)):
            lines += _table(block) if block[0].cells else [one.text for one in block]
            block = []
        if step is not None:
            block.append(step)
    return lines


def _table(steps: Sequence[Step]) -> list[str]:
    columns = []
    for name in steps[0].cells:
        values = [step.cells[name] for step in steps]
        numeric = not any(isinstance(value, str) and value for value in values)
        cells = [name, *(v if isinstance(v, str) else number(v) for v in values)]
        width = max(map(len, cells))
        columns.append([cell.rjust(width) if numeric else cell.ljust(width) for cell in cells])
    return ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]


LIST = (list, tuple)
WORDS = {dict: "a table", str: "a text", LIST: "a list", int: "a whole number"}


def step_of(data: Any) -> Step:
    """Return the step that a file holds; its cells stand in no file.

    Raises ValueError if it is not what :meth:`makespan.core.steps.Step.as_dict` gives.

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
        tables=tuple(map(_table_of, _typed(given.get("tables", ()), LIST, "tables"))),
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


def _table_of(data: Any) -> Table:
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
