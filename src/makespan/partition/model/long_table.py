"""Measurements in long form, one line per resource and count: frames and CSV files."""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

import numpy as np

from makespan.core.errors import FileError
from makespan.core.inputs.files import PathLike, read_text, shown_path
from makespan.core.inputs.rules import SHOWN_PER_COLUMN, Mistakes, Rule, quoted
from makespan.core.inputs.suggest import did_you_mean
from makespan.partition.model.costs import COST, COUNT, ENERGY_OR_NONE, Given
from makespan.partition.model.curves import Samples

COLUMNS = ("resource", "count", "time")
ENERGY = "energy"
SYNONYMS = {
    "resource": ("device", "gpu", "machine", "name", "worker"),
    "count": ("counts", "items", "samples", "tasks"),
    "time": ("cost", "duration", "seconds"),
    "energy": ("joules",),
}
"""What columns are called elsewhere."""
OWN = {other: name for name, others in SYNONYMS.items() for other in others}
READ = "the columns are resource, count (items, tasks), time (seconds) and perhaps energy (joules)"
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


def is_frame(costs: Any) -> bool:
    """Whether ``costs`` is a data frame (pandas, polars, and what is like them)."""
    return hasattr(costs, "columns") and hasattr(costs, "shape") and not isinstance(costs, Mapping)


def resources_of(
    frame: Any, mistakes: Mistakes, **how: Any
) -> tuple[tuple[str, ...] | None, list[Given] | None]:
    """Return the names and costs of the resources in a frame, in the order of appearance."""
    given = [str(name) for name in frame.columns]
    names = [OWN.get(name.lower(), name) for name in given]
    if not _known_columns(names, "costs", mistakes, given=given):
        return None, None
    columns = {name: np.asarray(frame[own]) for name, own in zip(names, given, strict=True)}
    return grouped(columns, mistakes, **how)


def grouped(
    columns: Mapping[str, Any],
    mistakes: Mistakes,
    *,
    interpolation: str = "exact",
    granularity: int = 1,
) -> tuple[tuple[str, ...], list[Given]]:
    """Return the names and costs of the resources in columns of equal length."""
    resource = np.asarray(columns["resource"]).astype(str)
    names, first, code = np.unique(resource, return_index=True, return_inverse=True)
    order = np.argsort(first)
    lines = np.split(
        np.argsort(code, kind="stable"), np.cumsum(np.bincount(code, minlength=len(names)))[:-1]
    )
    given = [
        Given(
            costs=samples_of(columns, lines[group], interpolation, granularity),
            costs_at=str(names[group]),
        )
        for group in order.tolist()
    ]
    if not given:
        mistakes.add("costs", "are empty; at least one resource is needed")
    return tuple(str(names[group]) for group in order.tolist()), given


def read_csv(path: PathLike, *, pipes: bool = False) -> dict[str, np.ndarray]:
    """Return the columns of a CSV file: ``resource,count,time`` and perhaps ``energy``.

    They stand in any order, and may have one of the ``SYNONYMS`` as their name. An empty time, or
    ``inf``, forbids the count. ``pipes`` as in :func:`makespan.core.inputs.files.read_text`. Raises
    FileError with every mistake found, each with its line.
    """
    return csv_columns(read_text(path, pipes=pipes), shown_path(path))


def csv_columns(text: str, heading: str) -> dict[str, np.ndarray]:
    """Return the columns of the text of a CSV file; see :func:`read_csv`."""
    mistakes = Mistakes()
    lines = csv.reader(StringIO(text, newline=""))
    try:
        names, rows, numbers = _cells(lines, mistakes)
    except csv.Error as error:
        mistakes.add(f"line {lines.line_num}", f"is not CSV ({error})")
    mistakes.raise_if_any(FileError, heading)
    columns = (
        dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ())
    )
    found = {
        "count": _numbers(columns["count"], "count", numbers, mistakes, COUNT),
        "time": _numbers(columns["time"], "time", numbers, mistakes, COST),
    }
    if "resource" in columns:
        found["resource"] = np.array([name.strip() for name in columns["resource"]], dtype=object)
    if ENERGY in columns:
        found[ENERGY] = _numbers(columns[ENERGY], ENERGY, numbers, mistakes, ENERGY_OR_NONE)
    mistakes.raise_if_any(FileError, heading)
    return found


def _cells(lines: Any, mistakes: Mistakes) -> tuple[list[str], list[list[str]], list[int]]:
    """Return the names of the columns, the rows that are not empty, and their lines."""
    given = [name.strip().lower() for name in next(lines, [])]
    names = [OWN.get(name, name) for name in given]
    other = next((mark for mark in SEPARATORS if len(names) == 1 and mark in names[0]), None)
    if other is not None:
        mistakes.add("line 1", f"separates its columns by {SEPARATORS[other]}; commas are read")
        return names, [], []
    if not _known_columns(names, "line 1", mistakes, resource="resource" in names, given=given):
        return names, [], []
    rows: list[list[str]] = []
    numbers: list[int] = []
    for row in lines:
        if not any(cell.strip() for cell in row):
            continue
        place = f"line {lines.line_num}"
        if len(row) != len(names):
            mistakes.add(place, f"has {len(row)} values for {len(names)} columns")
        elif any("\0" in cell for cell in row):
            mistakes.add(place, "holds a character NUL, which no text does")
        rows.append(row)
        numbers.append(lines.line_num)
        if len(mistakes.found) > SHOWN_PER_COLUMN:
            break
    return names, rows, numbers


def samples_of(
    columns: Mapping[str, Any], rows: Any, interpolation: str, granularity: int
) -> Samples:
    """Return the samples of one resource, from these rows of the columns."""
    return Samples(
        counts=columns["count"][rows],
        costs=columns["time"][rows],
        energies=columns[ENERGY][rows] if ENERGY in columns else None,
        interpolation=interpolation,
        granularity=granularity,
    )


def _known_columns(
    names: Sequence[str],
    place: str,
    mistakes: Mistakes,
    *,
    given: Sequence[str],
    resource: bool = True,
) -> bool:
    """Note missing, unknown and repeated columns; return whether all is well.

    ``given`` are the names as they stand there, before synonyms became ours.
    """
    before = len(mistakes.found)
    missing = [name for name in (COLUMNS if resource else COLUMNS[1:]) if name not in names]
    unknown = [name for name in names if name not in (*COLUMNS, ENERGY)]
    for name in list(unknown):
        hint = did_you_mean(name, (*COLUMNS, ENERGY, *OWN), unlisted=tuple(OWN))
        if "did you mean" in hint or not missing:
            mistakes.add(place, f"unknown column {name!r}{hint}")
            unknown.remove(name)
            missing = [each for each in missing if f"{each!r}?" not in hint]
    found = f"; unknown are {', '.join(map(repr, unknown))}" if unknown else ""
    for name in missing:
        mistakes.add(place, f"has no column {name!r}{found}; {READ}")
    for at, name in enumerate(names):
        if name in names[:at]:
            first = given[names.index(name)]
            same = "stands twice" if given[at] == first else f"holds what {first!r} does"
            mistakes.add(place, f"column {given[at]!r} {same}; one of them is enough")
    return len(mistakes.found) == before


def _numbers(
    cells: Sequence[str], name: str, lines: Sequence[int], mistakes: Mistakes, rule: Rule
) -> np.ndarray:
    """Return a column as numbers; note every cell that is none."""
    values = np.full(len(cells), np.inf)
    noted = 0
    for at, cell in enumerate(cells):
        text = cell.strip()
        if not text and not rule.whole:
            continue
        try:
            values[at] = value = float(text)
            fault = rule.fault(int(value) if rule.whole and value.is_integer() else value)
        except ValueError:
            fault = "is not a number"
        if fault and noted < SHOWN_PER_COLUMN:
            noted += 1
            mistakes.add(f"line {lines[at]}, {name}", f"{quoted(text)} {fault}; {rule.allowed}")
    return values.astype(np.int64) if rule.whole and not noted else values
