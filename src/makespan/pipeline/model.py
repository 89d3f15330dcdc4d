"""The stages of a pipeline, in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.inputs.rules import Mistakes, Rule, quoted
from makespan.core.names import Numbered
from makespan.core.numeric.arrays import Floats, equal_in, frozen

WORK = Rule("a work is 0 or more units")
DURATION = Rule(
    "a duration on a machine is 0 or more seconds, inf where the stage can't run", infinite=True
)
DATA = Rule("data are 0 or more units")
MEMORY = Rule("a memory is 0 or more units")
COLUMNS = {"work": WORK, "data": DATA, "memory": MEMORY, "memory_per_item": MEMORY}


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of a pipeline, such as a layer of a model.

    Parameters
    ----------
    work
        Units of work for each data set; a machine of speed s takes ``work / s`` seconds.
    data
        Units that go to the next stage; those of the last stage go nowhere.
    memory
        Units that the stage holds on its machine all the time, such as weights.
    memory_per_item
        Units that it holds for each data set in flight besides, such as a cache.
    durations
        In place of ``work``: seconds on each machine, ``inf`` where the stage can't run.
    name
        ``S1``, ``S2``, … by its place if omitted.

    >>> Stage(2.0, data=1.0, name="embed").work
    2.0
    """

    work: float | None = None
    data: float = 0.0
    memory: float = 0.0
    memory_per_item: float = 0.0
    durations: Sequence[float] | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stages:
    """Stages in columns; ``durations`` is a row for each stage, None where speeds say all.

    >>> stages = Stages.of([Stage(2.0), Stage(3.0, name="head")], 2, Mistakes())
    >>> stages.work.tolist(), list(stages.names)
    ([2.0, 3.0], ['S1', 'head'])
    """

    names: Sequence[str]
    work: Floats
    data: Floats
    memory: Floats
    memory_per_item: Floats
    durations: Floats | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stages) and equal_in(self.__slots__, self, other)

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.work)

    @classmethod
    def of(cls, given: Any, machines: int, mistakes: Mistakes) -> Stages:
        """Return columns of what is given: stages, works, or columns by name; note mistakes."""
        if isinstance(given, Stages):
            return given
        if isinstance(given, Mapping):
            columns = dict(given)
        elif isinstance(given, np.ndarray):
            columns = {"work": given}
        elif isinstance(given, Sequence) and not isinstance(given, str):
            columns = _of_objects(given, mistakes)
        else:
            mistakes.add("stages", f"{quoted(given)} is not a list of stages, nor columns of them")
            columns = {"work": []}
        unknown = [name for name in columns if name not in (*COLUMNS, "durations", "names")]
        for name in unknown:
            mistakes.add(f"stages.{name}", "is not a column of stages")
        if (columns.get("work") is None) == (columns.get("durations") is None):
            mistakes.add("stages", "have either work or durations")
            columns = {"work": []}
        count = len(columns["work" if columns.get("work") is not None else "durations"])
        if not count and not mistakes:
            mistakes.add("stages", "is empty; a pipeline has at least one stage")
        table = _table(columns.get("durations"), machines, mistakes)
        found = {name: _column(name, columns.get(name), count, mistakes) for name in COLUMNS}
        names = columns.get("names")
        if names is None:
            names = Numbered("S", count, first=1)
        elif len(names) != count:
            mistakes.add("stages.names", f"has {len(names)} entries; there are {count} stages")
        else:
            names = tuple(f"S{at + 1}" if name is None else name for at, name in enumerate(names))
            mistakes.names(lambda at: f"stages[{at}].name", names)
        return cls(names=names, durations=table, **found)


def _of_objects(given: Sequence[Any], mistakes: Mistakes) -> dict[str, Any]:
    """Return columns of stages, or of numbers, which are works."""
    if not any(isinstance(each, Stage) for each in given):
        return {"work": given}
    wrong = [at for at, each in enumerate(given) if not isinstance(each, Stage)]
    for at in wrong:
        mistakes.add(f"stages[{at}]", f"{quoted(given[at])} is not a Stage")
    for at, each in enumerate(given):
        if at not in wrong and (each.work is None) == (each.durations is None):
            mistakes.add(f"stages[{at}]", "has either work or durations")
    if mistakes:
        return {"work": []}
    columns: dict[str, Any] = {
        name: [getattr(each, name) for each in given]
        for name in ("data", "memory", "memory_per_item")
    }
    if any(each.name is not None for each in given):
        columns["names"] = [each.name for each in given]
    if any(each.durations is not None for each in given):
        columns["durations"] = [
            each.work if each.durations is None else each.durations for each in given
        ]
    else:
        columns["work"] = [each.work for each in given]
    return columns


def _column(name: str, values: ArrayLike | None, count: int, mistakes: Mistakes) -> Floats:
    """Return a column as read-only floats; a number stands for all, None for 0."""
    if values is None:
        return frozen(np.zeros(count))
    listed: Any = values if isinstance(values, np.ndarray) or np.iterable(values) else None
    if listed is None:
        return frozen(np.full(count, mistakes.number(f"stages.{name}", values, COLUMNS[name])))
    if len(listed) != count:
        mistakes.add(f"stages.{name}", f"has {len(listed)} entries; there are {count} stages")
        return frozen(np.zeros(count))
    return frozen(
        np.array(mistakes.column(lambda at: f"stages[{at}].{name}", listed, COLUMNS[name]))
    )


def _table(rows: Any, machines: int, mistakes: Mistakes) -> Floats | None:
    """Return the seconds of each stage (row) on each machine; a number is a work at speed 1."""
    if rows is None:
        return None
    found = np.zeros((len(rows), machines))
    for at, row in enumerate(rows):
        place = f"stages[{at}].durations"
        if not isinstance(row, (Sequence, np.ndarray)) or isinstance(row, str):
            mistakes.add(place, f"{quoted(row)} is not a list of seconds; all stages have one here")
        elif len(row) != machines:
            mistakes.add(place, f"has {len(row)} entries; there are {machines} machines")
        else:
            before = len(mistakes.found)
            entries = mistakes.column(lambda to, place=place: f"{place}[{to}]", row, DURATION)  # type: ignore[misc]
            if len(mistakes.found) == before and not np.isfinite(entries).any():
                mistakes.add(place, "is infinite everywhere; a stage can run on one machine")
            found[at] = entries
    return frozen(found)
