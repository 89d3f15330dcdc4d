"""What a graph is given as → columns of numbers, with every mistake in them."""

from collections.abc import Mapping, Sequence
from math import inf, isnan
from typing import Any, NamedTuple

import numpy as np

from makespan.core.inputs.rules import Mistakes, Rule, quoted, ragged, whole
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.names import index_by_name
from makespan.core.numeric.arrays import Floats, Integers

MAX_TASKS = 2**53  # beyond, floats skip whole numbers
WORK = Rule("work is 0 or more units")
SIZE = Rule("a size is 0 or more units of data")
DURATION = Rule("a duration is 0 or more seconds")
RELEASE = Rule("a release is 0 or more seconds")
DEADLINE = Rule("a deadline is 0 or more seconds, or inf", infinite=True)
INDEX = whole("an end of an edge is the index of a task,", 0, MAX_TASKS)
CORES = whole("the cores of a task are", 1, 2**20)
PER_TASK = {"release": (RELEASE, 0.0), "deadline": (DEADLINE, inf), "cores": (CORES, 1)}
"""What else tasks may have: the rule, and what holds where none is given."""
SUGGESTED_FROM = 200


class Columns(NamedTuple):
    """The columns of a graph, made to fit one another where they did not."""

    work: Floats
    own: Integers
    durations: Floats
    source: Integers
    target: Integers
    size: Floats
    release: Floats
    deadline: Floats
    cores: Floats


def columns_of(
    work: Any, durations: Any, source: Any, target: Any, size: Any, given: Mapping[str, Any],
    mistakes: Mistakes,
) -> Columns:  # fmt: skip
    """Return columns that fit one another, of a graph that is given as arrays."""
    table = _array("durations", durations, float, mistakes) if durations is not None else None
    if table is not None and table.ndim != 2:
        mistakes.add("durations", "is not a table of one row per task and one column per machine")
        table = None
    if work is None:
        if table is None:
            mistakes.add("work", "is missing; give work or durations")
            work = ()
        else:
            work = table.mean(axis=1) if table.shape[1] else np.zeros(len(table))
    seconds = np.zeros((0, 0)) if table is None else table
    amounts = np.atleast_1d(_array("work", work, float, mistakes))
    if table is not None and len(table) != len(amounts):
        mistakes.add("durations", f"has {len(table)} rows for {len(amounts)} tasks")
        seconds = np.zeros((0, 0))
    tails = np.atleast_1d(_array("source", source, int, mistakes))
    heads = np.atleast_1d(_array("target", target, int, mistakes))
    sizes = _array("size", size, float, mistakes)
    if len(tails) != len(heads):
        mistakes.add("target", f"has {len(heads)} entries, source has {len(tails)}")
        tails = heads = np.zeros(0, dtype=np.int64)
    if sizes.ndim and len(sizes) != len(tails):
        mistakes.add("size", f"has {len(sizes)} entries for {len(tails)} edges")
        sizes = np.array(0.0)
    others = []
    for name, values in given.items():
        column = _array(name, values, float, mistakes)
        if column.ndim and column.shape != amounts.shape:
            mistakes.add(name, f"has {len(column)} entries for {len(amounts)} tasks")
            column = np.array(float(PER_TASK[name][1]))
        others.append(np.array(np.broadcast_to(column, amounts.shape)))
    own, every = np.arange(len(seconds)), np.array(np.broadcast_to(sizes, tails.shape))
    return Columns(amounts, own, seconds, tails, heads, every, *others)


def _array(place: str, values: Any, dtype: type, mistakes: Mistakes) -> Any:
    kind = np.int64 if dtype is int else np.float64
    differ = ragged(values)
    if differ is not None:
        mistakes.add(place, differ)
        return np.zeros((0, 0), dtype=kind)
    try:
        array = np.array(values, dtype=np.float64 if np.size(values) == 0 else None)
        if array.dtype == bool or array.dtype.kind not in "iuf":
            raise TypeError("not numbers")
        if dtype is int:
            mistakes.column(f"{place}[{{}}]".format, np.atleast_1d(array), INDEX)
        with np.errstate(invalid="ignore"):  # of what was refused
            return array.astype(kind)
    except (TypeError, ValueError, OverflowError):
        mistakes.add(place, f"{quoted(values)} is not an array of numbers")
        return np.zeros(0, dtype=kind)


def pairs_of(tasks: Any, mistakes: Mistakes) -> list[tuple[Any, Any]]:
    """Return names and works, without what are none."""
    if isinstance(tasks, Mapping):
        return list(tasks.items())
    pairs = []
    for index, pair in enumerate(tasks):
        if isinstance(pair, (list, tuple)) and len(pair) == 2:
            pairs.append((pair[0], pair[1]))
        else:
            mistakes.add(f"tasks[{index}]", f"{quoted(pair)} is not a task; it is (name, work)")
    return pairs


def works_of(values: list[Any], mistakes: Mistakes) -> tuple[Floats, Integers, Floats]:
    """Split works and rows of durations."""
    work = np.zeros(len(values))
    own: list[int] = []
    rows: list[list[float]] = []
    for index, value in enumerate(values):
        if isinstance(value, (list, tuple, np.ndarray)):
            place = f"tasks[{index}].durations[{{}}]".format
            row = np.nan_to_num(mistakes.column(place, value, DURATION)).tolist()
            own.append(index)
            rows.append(row)
            work[index] = sum(row) / len(row) if row else 0.0
        else:
            amount = mistakes.number(f"tasks[{index}].work", value, WORK)
            work[index] = 0.0 if isnan(amount) else amount
    if len({len(row) for row in rows}) > 1:
        for task, row in zip(own, rows, strict=True):
            if len(row) != len(rows[0]):
                mistakes.add(
                    f"tasks[{task}].durations",
                    f"has {len(row)} entries, tasks[{own[0]}] has {len(rows[0])}; "
                    "there is one per machine",
                )
        own, rows = [], []
    table = np.array(rows, dtype=np.float64) if rows else np.zeros((0, 0))
    return work, np.array(own, dtype=np.int64), table


def by_name(word: str, given: Any, names: Sequence[Any], mistakes: Mistakes) -> Floats:
    """Return what is given by name, the default for other tasks."""
    rule, default = PER_TASK[word]
    column = np.full(len(names), float(default))
    unit = "cores" if word == "cores" else "seconds"
    if given is not None and not isinstance(given, Mapping):
        mistakes.add(word, f"{quoted(given)} is not a table of {unit} by task")
        return column
    position = index_by_name(names) if given else {}
    for name, value in (given or {}).items():
        if name not in position:
            hint = did_you_mean(name, list(map(str, names[:SUGGESTED_FROM])))
            mistakes.add(f"{word}.{name}", f"there is no task {quoted(name)}{hint}")
            continue
        number = mistakes.number(f"tasks[{position[name]}].{word}", value, rule)
        column[position[name]] = default if isnan(number) else number
    return column


def edges_of(
    edges: list[Any], names: tuple[Any, ...], mistakes: Mistakes
) -> tuple[Integers, Integers, Floats, list[int]]:
    """Return ends and sizes of the edges that are sound, and which these are."""
    position = index_by_name(names)
    source = np.zeros(len(edges), dtype=np.int64)
    target = np.zeros(len(edges), dtype=np.int64)
    size = np.zeros(len(edges))
    kept = np.ones(len(edges), dtype=bool)
    for index, edge in enumerate(edges):
        if not isinstance(edge, (list, tuple)) or len(edge) not in (2, 3):
            found = quoted(edge)
            mistakes.add(f"edges[{index}]", f"{found} is not an edge; it is (from, to, size)")
            kept[index] = False
            continue
        for end, column, word in ((edge[0], source, "from"), (edge[1], target, "to")):
            if isinstance(end, str) and end in position:
                column[index] = position[end]
            else:
                hint = did_you_mean(end, list(map(str, names[:SUGGESTED_FROM])))
                mistakes.add(f"edges[{index}].{word}", f"there is no task {quoted(end)}{hint}")
                kept[index] = False
        if len(edge) == 3:
            amount = mistakes.number(f"edges[{index}].size", edge[2], SIZE)
            size[index] = 0.0 if isnan(amount) else amount
    return source[kept], target[kept], size[kept], np.flatnonzero(kept).tolist()
