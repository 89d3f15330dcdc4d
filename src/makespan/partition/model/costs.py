"""Costs as people have them → a table, or curves.

Arrays, ragged rows, ``{count: cost}``, affine costs, functions and samples. Every mistake is
noted with its place; the entries themselves are checked later, in one pass over the table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from makespan.core.costs import Affine
from makespan.core.errors import TooLarge
from makespan.core.inputs.rules import (
    FIXED_COST,
    SHOWN_PER_COLUMN,
    UNIT_COST,
    Mistakes,
    Rule,
    quoted,
    refusal,
    whole,
)
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.system.memory import claim
from makespan.partition.model.curves import INTERPOLATIONS, Curve, Curves, Samples, tabulated
from makespan.partition.model.table import NO_LIMIT, Row, Table, read_only, table_of

LARGEST_COUNT = (1 << 53) - 1  # above, floats skip counts
COST = Rule("a cost is 0 or more seconds, or inf where the count is forbidden", infinite=True)
MEASURED = Rule("a measured cost is 0 or more seconds", infinite=True)
ENERGY = Rule("an energy is 0 or more, or inf where the count is forbidden")
ENERGY_OR_NONE = replace(ENERGY, infinite=True)
COUNT = whole("a count is", 0, LARGEST_COUNT)
TASKS = whole("tasks are", 0, LARGEST_COUNT)
GRANULARITY = whole("a granularity is", 1, LARGEST_COUNT)
BYTES = 64  # per entry of a table that is made: counts, costs, and what is needed on the way


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The costs of one resource as they were given.

    ``place`` names the resource in mistakes; ``costs_at``, ``energy_at``, ``lower_at``,
    ``upper_at`` and ``first_at`` name its parts.
    """

    costs: Any
    energy: Any = None
    first: Any = 0
    lower: Any = None
    upper: Any = None
    costs_at: str = "costs"
    energy_at: str = "energy"
    first_at: str = "first"
    lower_at: str = "lower"
    upper_at: str = "upper"


def given_rows(
    costs: Sequence[Any], *, energy: Any, first: Any, lower: Any, upper: Any, mistakes: Mistakes
) -> list[Given]:
    """Join parallel lists into one ``Given`` per resource."""
    count = len(costs)
    columns: dict[str, list[Any]] = {}
    for name, values in (("energy", energy), ("first", first), ("lower", lower), ("upper", upper)):
        listed = isinstance(values, (list, tuple, np.ndarray))
        columns[name] = list(values) if listed else [values] * count
        columns[f"{name}_at"] = [f"{name}[{at}]" if listed else name for at in range(count)]
        if len(columns[name]) != count:
            mistakes.add(name, f"holds {len(values)} entries; there are {count} resources")
            columns[name] = [None] * count
    columns["first"] = [0 if value is None else value for value in columns["first"]]
    return [
        Given(
            costs=row, costs_at=f"costs[{index}]", **{key: of[index] for key, of in columns.items()}
        )
        for index, row in enumerate(costs)
    ]


def matrix_table(costs: np.ndarray, energy: Any) -> Table | None:
    """Return the table of a plain array of costs without a copy, None if it is not plain."""
    for table in (costs,) if energy is None else (costs, energy):
        numeric = isinstance(table, np.ndarray) and table.dtype.kind in "iuf"
        if not numeric or table.ndim != 2 or table.shape != costs.shape:
            return None
    rows, length = costs.shape
    start = np.arange(rows, dtype=np.int64) * length
    return Table(
        values=read_only(costs, np.float64),
        start=start,
        stop=start + length,
        first=np.zeros(rows, dtype=np.int64),
        counts=None,
        energies=None if energy is None else read_only(energy, np.float64),
        lower=np.zeros(rows, dtype=np.int64),
        upper=np.full(rows, NO_LIMIT, dtype=np.int64),
    )


def build(given: Sequence[Given], tasks: int, mistakes: Mistakes) -> Table | Curves | None:
    """Return the costs of all resources, or None where mistakes stand in the way."""
    before = len(mistakes.found)
    limits = [_limits(row, mistakes) for row in given]
    functions = [row.costs for row in given]
    if all(isinstance(function, (Affine, Curve)) for function in functions) and not any(
        row.energy is not None for row in given
    ):
        for row in given:
            _check_affine(row.costs, row.costs_at, mistakes)
        lower, upper = zip(*limits, strict=True)
        if len(mistakes.found) > before:
            return None
        return Curves(functions=tuple(functions), lower=tuple(lower), upper=tuple(upper))
    if not _fits(given, limits, tasks, mistakes):
        return None
    rows = [_row(row, *limit, tasks, mistakes) for row, limit in zip(given, limits, strict=True)]
    if len(mistakes.found) > before:
        return None
    _check_energies(given, mistakes)
    return table_of([row for row in rows if row is not None])


def tabulate(curves: Curves, tasks: int) -> Table:
    """Return the table of curves up to ``tasks``; raise TooLarge if memory is too small for it."""
    entries = curves.size(tasks)
    claim(BYTES * entries, f"a table of {entries:,} costs")
    rows = [
        Row(
            place="",
            values=tabulated(function, lower, max(lower - 1, min(upper, tasks))),
            first=lower,
        )
        for function, lower, upper in zip(curves.functions, curves.lower, curves.upper, strict=True)
    ]
    return table_of(rows)


def _fits(
    given: Sequence[Given], limits: Sequence[tuple[int, int]], tasks: int, mistakes: Mistakes
) -> bool:
    """Whether the costs that functions and samples stand for fit into memory."""
    made = [_entries(row.costs, *limit, tasks) for row, limit in zip(given, limits, strict=True)]
    try:
        claim(BYTES * sum(made), f"a table of {sum(made):,} costs")
    except TooLarge as error:
        largest = int(np.argmax(made))
        mistakes.add(
            given[largest].costs_at,
            f"{made[largest]:,} counts are too many for a table: {error}. Give every resource a "
            "cost that never falls (affine, or a Curve) and no energy, or upper limits",
        )
        return False
    return True


def _entries(costs: Any, lower: int, upper: int, tasks: int) -> int:
    """Return how many entries of a row are made up from a function, or between samples."""
    if isinstance(costs, (Affine, Curve)) or callable(costs):
        return max(0, min(upper, tasks) - lower + 1)
    if not isinstance(costs, Samples) or costs.interpolation == "exact":
        return 0
    try:
        return (int(max(costs.counts)) - int(min(costs.counts))) // int(costs.granularity) + 1
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        return 0  # no counts: a mistake that is told with its place


def _limits(row: Given, mistakes: Mistakes) -> tuple[int, int]:
    lower = 0 if row.lower is None else _count(row.lower, row.lower_at, mistakes)
    upper = NO_LIMIT if row.upper is None else _count(row.upper, row.upper_at, mistakes)
    if lower > upper:
        mistakes.add(row.lower_at, f"{lower} is above the upper limit {upper}")
    return lower, upper


def _count(value: Any, place: str, mistakes: Mistakes) -> int:
    """Return ``value`` as a count; on a mistake, note it and return 0."""
    if isinstance(value, (float, np.floating)) and value.is_integer():
        value = int(value)
    text = refusal(value, COUNT)
    if text is not None:
        mistakes.add(place, text)
        return 0
    return int(value)


def _counts(values: Any, place: str, mistakes: Mistakes) -> Integers:
    """Return a list of counts as an array; note every entry that is not a count."""
    whole = isinstance(values, np.ndarray) and values.dtype.kind in "iu"
    if whole and (not len(values) or 0 <= values.min() <= values.max() <= LARGEST_COUNT):
        return np.asarray(values, dtype=np.int64)
    found = [_count(value, f"{place}[{at}]", mistakes) for at, value in enumerate(values)]
    return np.array(found, dtype=np.int64)


def _refuse_repeated(counts: Integers, place: str, mistakes: Mistakes) -> None:
    ordered = np.sort(counts)
    repeated = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    for count in repeated[:SHOWN_PER_COLUMN].tolist():
        mistakes.add(place, f"count {count} stands twice; each stands once")


def _row(row: Given, lower: int, upper: int, tasks: int, mistakes: Mistakes) -> Row | None:
    costs, place = row.costs, row.costs_at
    if isinstance(costs, Samples):
        return _sampled(costs, row, lower, upper, mistakes)
    if isinstance(costs, (Affine, Curve)) or callable(costs):
        return _function(row, lower, upper, tasks, mistakes)
    first = _count(row.first, row.first_at, mistakes)
    counts, energy = None, row.energy
    if isinstance(costs, Mapping):
        counts, costs, energy = _by_count(costs, row, mistakes)
    values = floats(costs, place, COST, mistakes)
    energies = None
    if energy is not None and values is not None:
        energies = floats(energy, row.energy_at, ENERGY_OR_NONE, mistakes)
        if energies is not None and len(energies) != len(values):
            mistakes.add(
                row.energy_at, f"holds {len(energies)} entries; {place} holds {len(values)}"
            )
    if values is None:
        return None
    return Row(
        place=place,
        values=values,
        counts=counts,
        first=first,
        energies=energies,
        lower=lower,
        upper=upper,
    )


def _by_count(
    costs: Mapping[Any, Any], row: Given, mistakes: Mistakes
) -> tuple[Integers, list[Any], Any]:
    """Return the counts of a table ``{count: cost}`` in order, their costs and energies."""
    before = len(mistakes.found)
    counts = [_count(count, f"{row.costs_at}[{count!r}]", mistakes) for count in costs]
    array = np.asarray(counts, dtype=np.int64)
    order = np.argsort(array, kind="stable").tolist()
    if len(mistakes.found) == before:
        _refuse_repeated(array, row.costs_at, mistakes)
    energy = row.energy
    if isinstance(energy, Mapping):
        if energy.keys() != costs.keys():
            mistakes.add(row.energy_at, f"does not hold the same counts as {row.costs_at}")
            energy = None
        else:
            energy = [energy[count] for count in costs]
    elif energy is not None:
        mistakes.add(row.energy_at, "is not a table {count: energy}, as the costs are")
        energy = None
    given = list(costs.values())
    in_order = None if energy is None else [energy[at] for at in order]
    return array[order], [given[at] for at in order], in_order


def _sampled(
    samples: Samples, row: Given, lower: int, upper: int, mistakes: Mistakes
) -> Row | None:
    place, before = row.costs_at, len(mistakes.found)
    counts = _counts(samples.counts, f"{place}.counts", mistakes)
    exact = samples.interpolation == "exact"
    costs = floats(samples.costs, f"{place}.costs", COST if exact else MEASURED, mistakes)
    mistakes.choice(f"{place}.interpolation", samples.interpolation, tuple(INTERPOLATIONS))
    mistakes.number(f"{place}.granularity", samples.granularity, GRANULARITY)
    if not len(counts) and not exact:  # nothing measured, nothing allowed: only that is exact
        mistakes.add(f"{place}.counts", "is empty; at least one sample is needed")
    columns = [("costs", costs)]
    if samples.energies is not None:
        energies = floats(samples.energies, f"{place}.energies", ENERGY_OR_NONE, mistakes)
        columns.append(("energies", energies))
    for name, column in columns:
        if column is not None and len(column) != len(counts):
            mistakes.add(f"{place}.{name}", f"holds {len(column)} entries for {len(counts)} counts")
        elif column is not None and not exact and not np.isfinite(column).all():
            index = int(np.argmax(~np.isfinite(column)))
            mistakes.add(
                f"{place}.{name}[{index}]",
                "inf can't be interpolated; leave the sample out, or interpolate 'exact'",
            )
    if len(mistakes.found) == before:
        _refuse_repeated(counts, f"{place}.counts", mistakes)
    if len(mistakes.found) > before:
        return None
    places, values, filled = samples.filled()
    return Row(place=place, values=values, counts=places, energies=filled, lower=lower, upper=upper)


def _function(row: Given, lower: int, upper: int, tasks: int, mistakes: Mistakes) -> Row | None:
    """Tabulate an affine cost or a function up to the number of tasks."""
    before = len(mistakes.found)
    _check_affine(row.costs, row.costs_at, mistakes)
    _check_affine(row.energy, row.energy_at, mistakes)
    if len(mistakes.found) > before:
        return None
    last = min(upper, tasks)
    try:
        values = tabulated(row.costs, lower, max(last, lower - 1))
        energies = row.energy
        if isinstance(energies, Affine) or callable(energies):
            energies = tabulated(energies, lower, max(last, lower - 1))
        elif energies is not None:
            mistakes.add(row.energy_at, "beside a function, an energy is affine or a function")
    except (TypeError, ValueError) as error:
        mistakes.add(
            row.costs_at,
            f"the function does not take an array of counts and return their costs ({error})",
        )
        return None
    affine = isinstance(row.costs, Affine) and isinstance(row.energy, Affine | None)
    return Row(
        place=row.costs_at,
        values=values,
        first=lower,
        energies=energies,
        lower=lower,
        upper=upper,
        given=(row.costs, row.energy) if affine else None,
    )


def _check_affine(cost: Any, place: str, mistakes: Mistakes) -> None:
    if isinstance(cost, Affine):
        mistakes.number(f"{place}.fixed", cost.fixed, FIXED_COST)
        mistakes.number(f"{place}.per_unit", cost.per_unit, UNIT_COST)
    elif isinstance(cost, Curve) and not callable(cost.function):
        mistakes.add(place, f"{quoted(cost.function)} is not a function")


def _check_energies(given: Sequence[Given], mistakes: Mistakes) -> None:
    """All resources have energies, or none."""

    def has_energy(row: Given) -> bool:
        measured = isinstance(row.costs, Samples) and row.costs.energies is not None
        return measured or row.energy is not None

    lacking = [row for row in given if not has_energy(row)]
    if lacking and len(lacking) < len(given):
        mistakes.add(lacking[0].energy_at, "is missing; all resources have an energy, or none")


def floats(values: Any, place: str, rule: Rule, mistakes: Mistakes) -> Floats | None:
    """Return a row of numbers as an array; note every entry of a list that the rule refuses."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        if values.ndim != 1:
            mistakes.add(place, f"has {values.ndim} dimensions; a row of costs has 1")
            return None
        return values.astype(np.float64, copy=False)
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if not isinstance(values, (list, tuple, range)):
        mistakes.add(place, f"{quoted(values)} is not a row of costs; {rule.allowed}")
        return None
    return mistakes.column(f"{place}[{{}}]".format, values, rule)
