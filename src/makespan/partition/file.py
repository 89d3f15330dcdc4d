"""The form of partition problems in files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from makespan.core.costs import Affine
from makespan.core.errors import FileError, Mistake, ProblemError
from makespan.core.inputs.files import PathLike, file_beneath, shown_path
from makespan.core.inputs.forms import (
    Column,
    Cost,
    Form,
    ProblemForm,
    Value,
    cost_entry,
    mistake,
    schema_of,
    validated,
)
from makespan.core.inputs.rules import DEADLINE, Mistakes
from makespan.partition.model.costs import COST, COUNT, ENERGY_OR_NONE, GRANULARITY, TASKS, Given
from makespan.partition.model.curves import Curves, Samples
from makespan.partition.model.long_table import grouped, read_csv, samples_of
from makespan.partition.model.table import NO_LIMIT, Table
from makespan.partition.problem import Partition

Count = Annotated[int, Value(COUNT)]
Costs = Annotated[Any, Column(COST)]
Energies = Annotated[Any, Column(ENERGY_OR_NONE)]
LARGEST_WRITTEN = 10_000_000


class ResourceForm(Form):
    """One resource: costs of consecutive counts, of listed counts, affine, or samples."""

    name: str | None = Field(None, min_length=1)
    first: Count = 0
    costs: Costs | None = None
    counts: list[Count] | None = None
    time: Costs | None = None
    energy: Energies | None = None
    cost: Cost | None = None
    energy_cost: Cost | None = None
    samples: str | None = None
    interpolation: Literal["exact", "linear", "pchip", "step"] = "linear"
    granularity: Annotated[int, Value(GRANULARITY)] = 1
    lower: Count = 0
    upper: Count | None = None

    @model_validator(mode="after")
    def _one_form(self) -> ResourceForm:
        given = [n for n in ("costs", "counts", "cost", "samples") if getattr(self, n) is not None]
        if len(given) != 1:
            found = " and ".join(given) if given else "nothing"
            raise mistake(
                f"has {found}; a resource has one of costs, counts (with time), cost, samples"
            )
        beside = {
            "costs": ("first", "energy"),
            "counts": ("time", "energy"),
            "cost": ("energy_cost",),
            "samples": ("interpolation", "granularity"),
        }
        common = {"name", "lower", "upper", given[0], *beside[given[0]]}
        for key in sorted(self.model_fields_set - common):
            raise mistake(f"{key} can't stand beside {given[0]}")
        if given == ["counts"] and self.time is None:
            raise mistake("time is missing; it holds the cost of each of the counts")
        return self

    def given(self, index: int, folder: Path, within: PathLike | None) -> Given:
        """Return the costs with their places in the file."""
        place = f"resources[{index}]"
        places = {
            "energy_at": f"{place}.energy",
            "lower_at": f"{place}.lower",
            "upper_at": f"{place}.upper",
        }
        limits: dict[str, Any] = {"lower": self.lower, "upper": self.upper, **places}
        if self.samples is not None:
            path = file_beneath(folder, self.samples, within)
            columns = read_csv(path)
            if len(set(columns.get("resource", ()))) > 1:
                raise FileError(f"{path}: holds more than one resource")
            samples = samples_of(columns, ..., self.interpolation, self.granularity)
            return Given(costs=samples, costs_at=f"{place}.samples", **limits)
        if self.counts is not None:
            exact = Samples(
                counts=self.counts,
                costs=_listed(self.time),
                energies=None if self.energy is None else _listed(self.energy),
                interpolation="exact",
            )
            return Given(costs=exact, costs_at=place, **limits)
        if self.cost is not None:
            energy = None if self.energy_cost is None else self.energy_cost.affine()
            limits["energy_at"] = f"{place}.energy_cost"
            return Given(
                costs=self.cost.affine(), energy=energy, costs_at=f"{place}.cost", **limits
            )
        return Given(
            costs=_listed(self.costs),
            energy=None if self.energy is None else _listed(self.energy),
            first=self.first,
            costs_at=f"{place}.costs",
            **limits,
        )


def _listed(column: Any) -> Any:
    """Return a column as an array, also where it is one number."""
    return np.atleast_1d(np.asarray(column, dtype=np.float64))


class PartitionForm(ProblemForm):
    """A partition problem."""

    kind: Literal["partition"]
    tasks: Annotated[int, Value(TASKS)]
    resources: list[ResourceForm]
    objective: Literal[
        "makespan", "total", "energy", "time-then-energy", "energy-then-time", "pareto"
    ] = "makespan"
    require: Literal["all", "most"] = "all"
    prefer: Literal["lexicographic", "fewest-resources", "least-total"] = "lexicographic"
    deadline: Annotated[float, Value(DEADLINE)] | None = None


PLAIN = ("tasks", "objective", "require", "prefer", "deadline")


def read(data: Mapping[str, Any]) -> Partition:
    """Build the problem from the contents of a file; files of samples are in this folder.

    Raises ProblemError with every mistake found, each with its place in the file. Raises FileError
    if a file of samples can't be read.

    >>> read({"kind": "partition", "tasks": 1, "resources": [{"costs": [0.0, 2.0]}]}).machines[0]
    'R1'
    """
    return read_beside(data, Path())


def read_beside(data: Mapping[str, Any], folder: Path, within: PathLike | None = None) -> Partition:
    """Like :func:`read`, with the files of samples in ``folder``."""
    form = validated(PartitionForm, data)
    if not form.resources:
        raise ProblemError([Mistake("resources", "are empty; at least one is needed")])
    given = [row.given(index, folder, within) for index, row in enumerate(form.resources)]
    names = [row.name or f"R{index + 1}" for index, row in enumerate(form.resources)]
    try:
        return Partition(
            costs=given,
            names=names if any(row.name for row in form.resources) else None,
            options=form.options,
            **{name: getattr(form, name) for name in PLAIN},
        )
    except ProblemError as error:
        raise ProblemError(
            [Mistake(_place_in_file(place), text) for place, text in error.mistakes]
        ) from None


def from_csv(path: PathLike, *, tasks: int | None = None, **parts: Any) -> Partition:
    """Build a problem from a CSV file of measurements: ``resource,count,time[,energy]``.

    There is a line per resource and count that was measured; an empty time forbids the count.
    ``parts`` are ``interpolation`` and ``granularity`` (see :class:`Samples`; without them only the
    measured counts are allowed), and those of a :class:`Partition`. Raises FileError or
    ProblemError with every mistake found.
    """
    if tasks is None:
        text = "is missing; a CSV file holds the costs alone, so say how many tasks there are"
        raise ProblemError([Mistake("tasks", f"{text}: --tasks 4096, in Python tasks=4096")])
    how = {key: parts.pop(key) for key in ("interpolation", "granularity") if key in parts}
    columns = read_csv(path, pipes=True)
    if "resource" not in columns:
        raise FileError(f"{shown_path(path)}: line 1 has no column 'resource'")
    mistakes = Mistakes()
    names, given = grouped(columns, mistakes, **how)
    mistakes.raise_if_any(FileError, shown_path(path))
    return Partition(tasks=tasks, costs=given, names=names, **parts)


def write(problem: Partition) -> dict[str, Any]:
    """Return the problem as the contents of a file; ``read`` gives an equal problem back.

    Affine costs are written as they were given, other functions as tables. Raises FileError if such
    a table would be too long.
    """
    data = PartitionForm.entries(problem, *PLAIN)
    costs = problem.costs
    if isinstance(costs, Curves) and not all(isinstance(f, Affine) for f in costs.functions):
        if costs.size(problem.tasks) > LARGEST_WRITTEN:
            raise FileError(
                f"functions can't be written, and a table of {costs.size(problem.tasks)} entries "
                "is too long"
            )
        costs = problem.choices.table
    entries = _curves(costs) if isinstance(costs, Curves) else _rows(costs, problem.tasks)
    data["resources"] = [
        {"name": name, **entry} for name, entry in zip(problem.machines, entries, strict=True)
    ]
    if problem.options:
        data["options"] = dict(problem.options)
    return data


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the files."""
    return schema_of(PartitionForm, "Partition")


def _curves(curves: Curves) -> list[dict[str, Any]]:
    entries = []
    for function, lower, upper in zip(curves.functions, curves.lower, curves.upper, strict=True):
        assert isinstance(function, Affine)
        entries.append({"cost": cost_entry(function), **_limits(lower, upper)})
    return entries


def _rows(table: Table, tasks: int) -> list[dict[str, Any]]:
    entries = []
    for row in range(len(table)):
        part, given = table.row(row), table.given[row] if table.given else None
        upper = int(table.upper[row])
        entry: dict[str, Any] = {}
        if given is not None:
            entry["cost"] = cost_entry(given[0])
            if given[1] is not None:
                entry["energy_cost"] = cost_entry(given[1])
            last = int(table.first[row]) + part.stop - part.start - 1
            if last < min(upper, tasks):  # it was tabulated for fewer tasks
                upper = last
        elif table.counts is None:
            if table.first[row]:
                entry["first"] = int(table.first[row])
            entry["costs"] = table.values[part].tolist()
        else:
            entry["counts"] = table.counts[part].tolist()
            entry["time"] = table.values[part].tolist()
        if table.energies is not None and given is None:
            entry["energy"] = table.energies[part].tolist()
        entries.append({**entry, **_limits(int(table.lower[row]), upper)})
    return entries


def _limits(lower: int, upper: int) -> dict[str, int]:
    limits = {"lower": lower} if lower else {}
    return {**limits, "upper": upper} if upper != NO_LIMIT else limits


def _place_in_file(place: str) -> str:
    """Return where in the file stands what a problem calls ``costs[2][5]`` or ``names[1]``."""
    named = re.fullmatch(r"names\[(\d+)\]", place)
    if named:
        return f"resources[{named[1]}].name"
    entry = re.fullmatch(r"(costs|energy)\[(\d+)\]\[(\d+)\]", place)
    return f"resources[{entry[2]}].{entry[1]}[{entry[3]}]" if entry else place
