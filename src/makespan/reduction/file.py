"""The form of reductions in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator

from makespan.core.inputs.forms import (
    Number,
    ProblemForm,
    Seconds,
    Whole,
    mistake,
    schema_of,
    validated,
)
from makespan.core.inputs.mistakes import shown
from makespan.reduction.problem import FIELDS, Reduction

Machines = Annotated[int, Whole("machines are a whole number from 1", low=1)]
Segments = Annotated[
    int | str, Whole("segments are a whole number from 1, or 'auto'", low=1, words=("auto",))
]


A_TIME = Number("a time is 0 or more seconds")


def _table(value: Any) -> Any:
    """Check a number, or a list of rows."""
    if not isinstance(value, list):
        return A_TIME.checked(value)
    for row in value:
        if not isinstance(row, list):
            raise mistake(f"{shown(row)} is not a list; a table has a row per machine")
    return [_row(row) for row in value]


def _row(value: Any) -> Any:
    """Check a number, or a list of them."""
    return (
        [A_TIME.checked(entry) for entry in value]
        if isinstance(value, list)
        else A_TIME.checked(value)
    )


Table = Annotated[Any, BeforeValidator(_table)]
Row = Annotated[Any, BeforeValidator(_row)]


class ReductionForm(ProblemForm):
    """A reduction, broadcast or all-reduce."""

    kind: Literal["reduction"] = "reduction"
    collective: Literal["reduce", "broadcast", "all-reduce"] = "reduce"
    machines: Machines | Annotated[list[str], "names"]
    segments: Segments
    latency: Table = 0.0
    transfer: Table | None = None
    reduce: Row | None = None
    segment_sizes: list[Seconds] | None = None
    order: Literal["free", "greedy", "backfilling"] = "free"
    destinations: list[list[int]] | None = None
    sequences: list[list[list[int]]] | None = None
    bytes: Seconds | None = None
    message_overhead: Seconds | None = None
    transfer_per_byte: Seconds | None = None
    reduce_per_byte: Seconds | None = None
    reduce_overhead: Seconds | None = None


def read(data: Mapping[str, Any]) -> Reduction:
    """Build the problem from the contents of a file.

    Raises
    ------
    ProblemError
        With every mistake found.
    """
    form = validated(ReductionForm, data)
    return Reduction(**{name: getattr(form, name) for name in FIELDS})


def write(problem: Reduction) -> dict[str, Any]:
    """Return the problem as the contents of a file; what is left open is left out."""
    data: dict[str, Any] = {"format": "makespan.problem/1", "kind": "reduction"}
    for name in FIELDS:
        value = getattr(problem, name)
        if value is None or (name == "options" and not value):
            continue
        data[name] = _entry(value)
    numbered = tuple(f"M{i + 1}" for i in range(len(problem.machines)))
    data["machines"] = (
        len(problem.machines) if problem.machines == numbered else list(problem.machines)
    )
    return data


def _entry(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [_entry(part) for part in value]
    if isinstance(value, Mapping):
        return dict(value)
    return value


def schema() -> dict[str, Any]:
    """Return the JSON Schema of files of this kind."""
    return schema_of(ReductionForm, "A makespan reduction problem")
