"""The form of reductions in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np

from makespan.core.forms import Number, ProblemForm, Seconds, Whole, mistake, schema_of, validated
from makespan.core.mistakes import shown
from makespan.reduction.problem import FIELDS, Reduction
from pydantic import BeforeValidator

Machines = Annotated[int, Whole("machines are a whole number from 1", low=1)]
Segments = Annotated[
    int | str, Whole("segments are a whole number from 1, or 'auto'", low=1, words=("auto",))
]


def _number_or_lists(depth: int) -> Any:
    """Return an annotation for a number, or lists of numbers in ``depth`` levels."""
    rule = Number("a time is 0 or more seconds")

    def checked(value: Any, level: int = 0) -> Any:
        if isinstance(value, list) and level < depth:
            return [checked(entry, level + 1) for entry in value]
        if level not in (0, depth):
            raise mistake(f"{shown(value)} is not a list; a table has a row per machine")
        return rule.checked(value)

    return Annotated[Any, BeforeValidator(checked)]


class ReductionForm(ProblemForm):
    """A reduction, broadcast or all-reduce."""

    kind: Literal["reduction"] = "reduction"
    collective: Literal["reduce", "broadcast", "all-reduce"] = "reduce"
    machines: Machines | Annotated[list[str], "names"]
    segments: Segments
    latency: _number_or_lists(2) = 0.0
    transfer: _number_or_lists(2) = None
    reduce: _number_or_lists(1) = None
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
