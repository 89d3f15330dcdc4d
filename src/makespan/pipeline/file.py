"""Pipelines in files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Discriminator, Tag, model_validator

from makespan.core.errors import Mistake, ProblemError
from makespan.core.inputs.files import PathLike, file_beneath
from makespan.core.inputs.forms import (
    HIDDEN,
    Column,
    Form,
    ProblemForm,
    Value,
    mistake,
    schema_of,
    validated,
)
from makespan.core.names import Numbered
from makespan.core.network.forms import InterconnectForm, links_entry
from makespan.pipeline.formats import read_layers
from makespan.pipeline.model import COLUMNS, DATA, DURATION, MEMORY, WORK, Stage
from makespan.pipeline.problem import (
    BUDGET,
    CAPACITY,
    IN_FLIGHT,
    ITEMS,
    LIMIT,
    MACHINES,
    PRICE,
    RATE,
    REPLICAS,
    SPEED,
    Pipeline,
)

LARGEST_LIST = 1000
"""Stages up to which a problem is written as a list of tables; more are written as columns."""
Durations = Annotated[Any, Column(DURATION, one_for_all=False)]
Units = Annotated[float, Value(MEMORY)]
SAME = (
    "objective", "period_limit", "latency_limit", "budget", "order", "overlap", "input", "output",
    "items", "in_flight", "replicas",
)  # fmt: skip
"""What stands in files as in problems."""
OF_MACHINES = {"speed": ("speeds", 1.0), "memory": ("memory", math.inf), "price": ("price", 0.0),
               "outside": ("outside", math.inf)}  # fmt: skip


class StageForm(Form):
    """A stage: its work, or its seconds on each machine."""

    name: str | None = None
    work: Annotated[float, Value(WORK)] | None = None
    data: Annotated[float, Value(DATA)] = 0.0
    memory: Units = 0.0
    memory_per_item: Units = 0.0
    durations: Durations | None = None

    @model_validator(mode="after")
    def _either(self) -> StageForm:
        if (self.work is None) == (self.durations is None):
            raise mistake("a stage has either work or durations")
        return self


class ColumnsForm(Form):
    """Stages as columns: lists of one length each."""

    names: list[str] | None = None
    work: Annotated[Any, Column(WORK, one_for_all=False)] | None = None
    data: Annotated[Any, Column(DATA)] = 0.0
    memory: Annotated[Any, Column(MEMORY)] = 0.0
    memory_per_item: Annotated[Any, Column(MEMORY)] = 0.0
    durations: list[Durations] | None = None


class MachineForm(Form):
    """A machine."""

    name: str | None = None
    speed: Annotated[float, Value(SPEED)] = 1.0
    memory: Annotated[float, Value(CAPACITY)] = math.inf
    price: Annotated[float, Value(PRICE)] = 0.0
    outside: Annotated[float, Value(RATE)] = math.inf


Machines = Annotated[
    Annotated[int, Value(MACHINES), Tag(f"{HIDDEN}number")]
    | Annotated[list[MachineForm], Tag(f"{HIDDEN}list")],
    Discriminator(lambda value: HIDDEN + ("list" if isinstance(value, list) else "number")),
]


Stages = Annotated[
    Annotated[str, Tag(f"{HIDDEN}file")] | Annotated[list[StageForm], Tag(f"{HIDDEN}list")],
    Discriminator(lambda value: HIDDEN + ("file" if isinstance(value, str) else "list")),
]


class PipelineForm(ProblemForm):
    """Consecutive stages on unlike machines."""

    kind: Literal["pipeline"]
    stages: Stages | None = None
    columns: ColumnsForm | None = None
    machines: Machines
    network: InterconnectForm | None = None
    objective: Literal["period", "latency", "makespan", "price", "pareto"] = "period"
    period_limit: Annotated[float, Value(LIMIT)] | None = None
    latency_limit: Annotated[float, Value(LIMIT)] | None = None
    budget: Annotated[float, Value(BUDGET)] | None = None
    order: Literal["free", "given"] = "free"
    overlap: bool = True
    input: Annotated[float, Value(DATA)] = 0.0
    output: Annotated[float, Value(DATA)] = 0.0
    items: Annotated[int, Value(ITEMS)] = 8
    in_flight: Annotated[int, Value(IN_FLIGHT)] = 1
    replicas: Annotated[int, Value(REPLICAS)] = 1

    @model_validator(mode="after")
    def _one_list(self) -> PipelineForm:
        if (self.stages is None) == (self.columns is None):
            raise mistake("stages are given either as stages, or as columns")
        return self


def read(data: Mapping[str, Any]) -> Pipeline:
    """Build the problem from the contents of a file.

    Raises ProblemError with every mistake found, each with its place in the file.

    >>> data = {"kind": "pipeline", "machines": 2, "stages": [{"work": 2.0}, {"work": 3.0}]}
    >>> read(data).stages.work.tolist()
    [2.0, 3.0]
    """
    return read_beside(data, Path())


def read_beside(data: Mapping[str, Any], folder: Path, within: PathLike | None = None) -> Pipeline:
    """Like :func:`read`, with the table of layers that ``stages`` names in ``folder``."""
    form = validated(PipelineForm, data)
    stages: Any
    measured: tuple[str, ...] = ()
    if form.columns is not None:
        stages = form.columns.model_dump()
    elif isinstance(form.stages, str):
        stages, measured = read_layers(file_beneath(folder, form.stages, within))
    else:
        stages = [Stage(**stage.model_dump()) for stage in form.stages or ()]
    machines: Any = form.machines
    columns: dict[str, Any] = {}
    if isinstance(machines, list):
        columns = {
            name: [getattr(each, key) for each in machines]
            for key, (name, _) in OF_MACHINES.items()
        }
        if any(each.name is not None for each in machines):
            machines = [
                f"M{at + 1}" if each.name is None else each.name for at, each in enumerate(machines)
            ]
        else:
            machines = len(machines)
    if measured and isinstance(machines, int) and machines == len(measured):
        machines = measured
    if measured and isinstance(machines, Sequence) and tuple(machines) != measured:
        text = f"are not those of {form.stages}, in its order: {', '.join(measured)}"
        raise ProblemError([Mistake("machines", text)])
    if form.network is not None:
        machines = form.network.network(machines)
    same = {name: getattr(form, name) for name in SAME}
    return Pipeline(stages, machines, **columns, **same, options=form.options)


def write(problem: Pipeline) -> dict[str, Any]:
    """Return the problem as the contents of a file; ``read`` gives an equal problem back.

    What has its default is left out. More than 1000 stages are written as columns.

    >>> write(Pipeline([2.0, 3.0], machines=2))["stages"]
    [{'work': 2.0}, {'work': 3.0}]
    """
    data = PipelineForm.entries(problem, *SAME)
    if len(problem.stages) > LARGEST_LIST:
        data["columns"] = _columns(problem)
    else:
        data["stages"] = _stages(problem)
    data["machines"] = _machines(problem)
    if problem.network is not None:
        data["network"] = links_entry(problem.network)
    if problem.options:
        data["options"] = dict(problem.options)
    return data


def _machines(problem: Pipeline) -> int | list[dict[str, Any]]:
    """Return the machines, or their number where nothing is said of them."""
    numbered = problem.machines == Numbered("M", len(problem.machines), first=1)
    entries: list[dict[str, Any]] = [
        {} if numbered else {"name": name} for name in problem.machines
    ]
    for key, (name, default) in OF_MACHINES.items():
        for entry, value in zip(entries, getattr(problem, name).tolist(), strict=True):
            if value != default:
                entry[key] = value
    return entries if any(entries) else len(entries)


def _named(names: Sequence[str]) -> bool:
    return names != Numbered("S", len(names), first=1)


def _stages(problem: Pipeline) -> list[dict[str, Any]]:
    stages = problem.stages
    entries: list[dict[str, Any]] = [
        {"name": name} if _named(stages.names) else {} for name in stages.names
    ]
    for name in COLUMNS:
        if name == "work" and stages.durations is not None:
            continue
        for entry, value in zip(entries, getattr(stages, name).tolist(), strict=True):
            if value or name == "work":
                entry[name] = value
    if stages.durations is not None:
        for entry, row in zip(entries, stages.durations.tolist(), strict=True):
            entry["durations"] = row
    return entries


def _columns(problem: Pipeline) -> dict[str, Any]:
    stages = problem.stages
    columns: dict[str, Any] = {"names": list(stages.names)} if _named(stages.names) else {}
    if stages.durations is not None:
        columns["durations"] = stages.durations.tolist()
    for name in COLUMNS:
        column: np.ndarray = getattr(stages, name)
        if (name == "work" and stages.durations is None) or column.any():
            columns[name] = column.tolist()
    return columns


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the kind's files."""
    return schema_of(PipelineForm, "A makespan pipeline problem")
