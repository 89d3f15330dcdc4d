"""Columns and limits as a problem states them: numbers of tasks, sizes and capacities."""

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from makespan.core.inputs.rules import Mistakes, Rule, quoted, whole
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.system.memory import claim

COUNT = whole("a number of tasks is", 0, 10**9)
SIZE = Rule("a size is 0 or more units")
CAPACITY = Rule("a capacity is 0 or more units", infinite=True)
LEAST, MOST = "least", "most"


def checked_counts(mistakes: Mistakes, counts: Any, machines: Any) -> Any:
    """Return ``"equal"``, or a table of the limits that are stated; None where there are none."""
    if counts is None or (isinstance(counts, str) and counts == "equal"):
        return counts
    if isinstance(counts, str):
        mistakes.choice("counts", counts, ("equal",))
        return None
    told = counts if isinstance(counts, Mapping) else {MOST: counts}
    found: dict[str, Any] = {}
    for name, value in told.items():
        place = f"counts.{name}" if isinstance(counts, Mapping) else "counts"
        if name not in (LEAST, MOST):
            mistakes.add("counts", f"unknown key {quoted(name)}; it has {LEAST!r} and {MOST!r}")
        elif not np.iterable(value) or isinstance(value, (str, bytes)):
            if mistakes.number(place, value, COUNT) >= 0:
                found[name] = operator.index(value)  # type: ignore[arg-type]
        else:
            entries = value.tolist() if isinstance(value, np.ndarray) else list(value)
            before = len(mistakes.found)
            mistakes.column(lambda index, place=place: f"{place}[{index}]", entries, COUNT)  # type: ignore[misc]
            if len(mistakes.found) == before and len(entries) != machines:
                mistakes.add(
                    place, f"has {len(entries)} entries; there are {quoted(machines)} machines"
                )
            found[name] = list(entries)
    return found or None


def check_counts(least: Integers, most: Integers, tasks: int, machines: Sequence[str]) -> None:
    """Refuse limits that no plan can keep."""
    claim(32.0 * len(machines), f"the limits of {len(machines):,} machines")
    mistakes = Mistakes()
    for machine in np.flatnonzero(least > most)[:1].tolist():
        text = f"is {least[machine]} on {machines[machine]}, which may have {most[machine]}"
        mistakes.add(f"counts.{LEAST}", text)
    if int(least.sum()) > tasks:
        mistakes.add(f"counts.{LEAST}", f"adds up to {least.sum()} tasks; there are {tasks}")
    if int(most.sum()) < tasks:
        mistakes.add(f"counts.{MOST}", f"adds up to {most.sum()} tasks; there are {tasks}")
    mistakes.raise_if_any()


def checked_capacity(mistakes: Mistakes, capacity: Any, machines: Any) -> Floats | None:
    """Return the capacity of each machine as an array."""
    if capacity is None:
        return None
    if not np.iterable(capacity) or isinstance(capacity, (str, bytes)):
        value = mistakes.number("capacity", capacity, CAPACITY)
        return None if mistakes else np.broadcast_to(np.float64(value), operator.index(machines))
    room = checked_column(mistakes, "capacity", capacity, CAPACITY)
    if not mistakes and len(room) != machines:
        mistakes.add("capacity", f"has {len(room)} entries; there are {machines} machines")
    room.flags.writeable = False
    return room


def check_sizes(
    mistakes: Mistakes, tasks: int, sizes: Floats | None, capacity: Floats | None
) -> None:
    """Note sizes without a capacity, the other way round, and what can't fit."""
    if sizes is None or capacity is None:
        if sizes is not None or capacity is not None:
            missing, given = ("capacity", "sizes") if capacity is None else ("sizes", "capacity")
            mistakes.add(missing, f"is missing; {given} needs it")
        return
    if len(sizes) != tasks:
        mistakes.add("sizes", f"has {len(sizes)} entries; there are {tasks} tasks")
    greatest, total = float(capacity.max()), float(capacity.sum())
    for task in np.flatnonzero(sizes > greatest)[:1].tolist():
        text = f"{sizes[task]:g} is above {greatest:g}, the greatest capacity of a machine"
        mistakes.add(f"sizes[{task}]", text)
    if float(sizes.sum()) > total * (1 + 1e-9):
        text = f"adds up to {total:g} on all machines; the sizes add up to {sizes.sum():g}"
        mistakes.add("capacity", text)


def checked_column(mistakes: Mistakes, place: str, values: Any, rule: Rule) -> Floats:
    """Return a list of numbers as an array of its own; note every mistake."""
    if isinstance(values, (str, bytes, Mapping)) or not np.iterable(values):
        mistakes.add(place, f"{quoted(values)} is not a list of numbers; {rule.allowed}")
        return np.empty(0)
    if isinstance(values, np.ndarray) and values.ndim != 1:
        mistakes.add(place, f"has {values.ndim} dimensions; it is one list of numbers")
        return np.empty(0)
    values = values if isinstance(values, np.ndarray) else list(values)
    return np.array(mistakes.column(lambda index: f"{place}[{index}]", values, rule))
