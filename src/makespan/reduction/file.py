"""The form of reductions in files."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np

from makespan.core.inputs.forms import Column, ProblemForm, Table, Value, schema_of, validated
from makespan.core.network.forms import InterconnectForm, links_entry
from makespan.core.network.interconnect import Interconnect
from makespan.reduction.model.validation import BYTES, MACHINES, SEGMENTS, SIZE, TIME, TIME_OR_NONE
from makespan.reduction.problem import FIELDS, Collective, Reduction

OF_NETWORKS = ("latency", "transfer", "transfer_per_byte")
Times = Annotated[Any, Table(TIME, TIME)]
OfLinks = Annotated[Any, Table(TIME, TIME_OR_NONE)]
OfMachines = Annotated[Any, Column(TIME)]


class ReductionForm(ProblemForm):
    """A reduction, or another collective operation."""

    kind: Literal["reduction"] = "reduction"
    collective: Collective = "reduce"
    before: list[list[int]] | None = None
    after: list[list[int]] | None = None
    combine: bool = False
    machines: Annotated[int, Value(MACHINES)] | list[str]
    segments: Annotated[int | str, Value(SEGMENTS)]
    network: InterconnectForm | None = None
    latency: OfLinks = 0.0
    transfer: OfLinks | None = None
    reduce: OfMachines | None = None
    segment_sizes: Annotated[Any, Column(SIZE, one_for_all=False)] | None = None
    order: Literal["free", "greedy", "backfilling"] = "free"
    destinations: list[list[int]] | None = None
    sequences: list[list[list[int]]] | None = None
    bytes: Annotated[float, Value(BYTES)] | None = None
    message_overhead: Times | None = None
    transfer_per_byte: OfLinks | None = None
    reduce_per_byte: OfMachines | None = None
    reduce_overhead: OfMachines | None = None


def read(data: Mapping[str, Any]) -> Reduction:
    """Build the problem from the contents of a file; raise ProblemError with every mistake."""
    form = validated(ReductionForm, data)
    fields = {name: getattr(form, name) for name in FIELDS}
    if form.network is not None:
        fields["network"] = form.network.network(form.machines)
    return Reduction(**fields)


def write(problem: Reduction) -> dict[str, Any]:
    """Return the problem as the contents of a file; what is left open is left out."""
    data: dict[str, Any] = {"format": "makespan.problem/1", "kind": "reduction"}
    for name in FIELDS:
        value = getattr(problem, name)
        if value is None or (name in ("options", "combine") and not value):
            continue
        if problem.network is not None and name in OF_NETWORKS:
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
    if isinstance(value, Interconnect):
        return links_entry(value)
    if isinstance(value, tuple):
        return [_entry(part) for part in value]
    if isinstance(value, Mapping):
        return dict(value)
    return value


def schema() -> dict[str, Any]:
    """Return the JSON Schema of files of this kind."""
    return schema_of(ReductionForm, "A makespan reduction problem")
