"""The form of task graph problems in files."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from makespan.core.errors import Mistake, ProblemError
from makespan.core.inputs.forms import (
    Column,
    Form,
    ProblemForm,
    Value,
    mistake,
    schema_of,
    validated,
)
from makespan.core.inputs.rules import DEADLINE as LATEST
from makespan.core.names import Numbered
from makespan.taskgraph.formats import BYTES_PER_SECOND, on_machines, wfformat
from makespan.taskgraph.model.columns import (
    CORES,
    DEADLINE,
    DURATION,
    INDEX,
    PER_TASK,
    RELEASE,
    SIZE,
    WORK,
)
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.model.network_forms import NetworkForm, network_entry
from makespan.taskgraph.problem import BUDGET, TaskGraph

LARGEST_LIST = 1000
"""Tasks up to which a problem is written as lists of tables; more are written as columns."""

PLAIN = "communication", "contention", "duplication", "deadline", "budget", "objective"

COLUMNS = ("work", "size", "names", "durations", *PER_TASK)

Durations = Annotated[Any, Column(DURATION, one_for_all=False)]
Indices = Annotated[Any, Column(INDEX)]


class TaskForm(Form):
    """A task: its work, or its seconds on each machine."""

    name: str
    work: Annotated[float, Value(WORK)] | None = None
    durations: Durations | None = None
    release: Annotated[float, Value(RELEASE)] = 0.0
    deadline: Annotated[float, Value(DEADLINE)] = math.inf
    cores: Annotated[int, Value(CORES)] = 1

    @model_validator(mode="after")
    def _either(self) -> TaskForm:
        if (self.work is None) == (self.durations is None):
            raise mistake("a task has either work or durations")
        return self


class EdgeForm(Form):
    """Data from a task to another."""

    from_: str = Field(alias="from")
    to: str
    size: Annotated[float, Value(SIZE)] = 0.0


class ColumnsForm(Form):
    """Tasks and edges as columns: lists of one length each."""

    names: list[str] | None = None
    work: Annotated[Any, Column(WORK)] | None = None
    durations: list[Durations] | None = None
    source: Indices = Field(default_factory=lambda: np.zeros(0))
    target: Indices = Field(default_factory=lambda: np.zeros(0))
    size: Annotated[Any, Column(SIZE)] = 0.0
    release: Annotated[Any, Column(RELEASE)] = 0.0
    deadline: Annotated[Any, Column(DEADLINE)] = math.inf
    cores: Annotated[Any, Column(CORES)] = 1


class TaskGraphForm(ProblemForm):
    """A task graph problem."""

    kind: Literal["taskgraph"]
    communication: Literal["overlap", "blocking"] = "overlap"
    contention: Literal["none", "links", "ports"] = "none"
    tasks: list[TaskForm] | None = None
    edges: list[EdgeForm] | None = None
    columns: ColumnsForm | None = None
    network: NetworkForm
    assignment: dict[str, str] | None = None
    sequence: dict[str, list[str]] | None = None
    duplication: bool = False
    deadline: Annotated[float, Value(LATEST)] | None = None
    budget: Annotated[float, Value(BUDGET)] | None = None
    objective: Literal["makespan", "price", "pareto"] = "makespan"

    @model_validator(mode="after")
    def _one_list(self) -> TaskGraphForm:
        if (self.tasks is None) == (self.columns is None):
            raise mistake("tasks are given either as tasks and edges, or as columns")
        if self.columns is not None and self.edges is not None:
            raise mistake("edges can't stand beside columns, which hold them")
        return self

    def dag(self) -> Dag:
        if self.columns is not None:
            return Dag.from_arrays(**dict(self.columns))
        tasks = self.tasks or ()
        others: dict[str, Any] = {
            word: {each.name: getattr(each, word) for each in tasks if getattr(each, word) != usual}
            for word, (_, usual) in PER_TASK.items()
        }
        return Dag(
            [
                (task.name, task.work if task.durations is None else task.durations)
                for task in tasks
            ],
            [(edge.from_, edge.to, edge.size) for edge in self.edges or ()],
            **others,
        )


def read(data: Mapping[str, Any]) -> TaskGraph:
    """Build the problem from the contents of a file: makespan's own form, or WfFormat.

    Raises ProblemError with every mistake found, each with its place in the file; FileError if a
    ``workflow`` is not WfFormat.

    >>> problem = read({"kind": "taskgraph", "tasks": [{"name": "a", "work": 2.0}],
    ...                 "network": {"machines": [{"speed": 4.0}]}})
    >>> problem.machines[0], float(problem.durations[0, 0])
    ('M1', 0.5)
    """
    if "kind" not in data and "workflow" in data:
        return on_machines(wfformat.read(data), BYTES_PER_SECOND, {})
    form = validated(TaskGraphForm, data)
    others = (*PLAIN, "assignment", "sequence", "options")
    given: dict[str, Any] = {name: getattr(form, name) for name in others}
    try:
        return TaskGraph(form.dag(), form.network.network(), **given)
    except ProblemError as error:
        if form.columns is None:
            raise
        found = [Mistake(_in_columns(place), text) for place, text in error.mistakes]
        raise ProblemError(found) from None


def _in_columns(place: str) -> str:
    """Return where a mistake stands in a file with columns."""
    words = {"from": "source", "to": "target", "name": "names"}
    found = re.fullmatch(r"(?:tasks|edges)\[(\d+)\]\.(\w+)(.*)", place)
    if found is None:
        return f"columns.{place}" if place in COLUMNS else place
    index, name, rest = found.groups()
    return f"columns.{words.get(name, name)}[{index}]{rest}"


def write(problem: TaskGraph) -> dict[str, Any]:
    """Return the problem as the contents of a file; ``read`` gives an equal problem back.

    What has its default is left out. More than 1000 tasks are written as columns.

    >>> from makespan import Dag, Network, TaskGraph
    >>> dag = Dag({"a": 2.0, "b": 3.0}, [("a", "b", 4.0)])
    >>> write(TaskGraph(dag, Network.complete(speeds=[1.0])))["edges"]
    [{'from': 'a', 'to': 'b', 'size': 4.0}]
    """
    data = TaskGraphForm.entries(problem, *PLAIN)
    if _as_columns(problem.dag):
        data["columns"] = _columns(problem.dag)
    else:
        data["tasks"], data["edges"] = _tasks(problem.dag), _edges(problem.dag)
    data["network"] = network_entry(problem.network)
    if problem.assignment is not None:
        data["assignment"] = dict(problem.assignment)
    if problem.sequence is not None:
        data["sequence"] = {name: list(tasks) for name, tasks in problem.sequence.items()}
    if problem.options:
        data["options"] = dict(problem.options)
    return data


def _as_columns(dag: Dag) -> bool:
    """Whether a graph is written as columns, which can't mix works and durations."""
    if len(dag.own):
        return len(dag.own) == len(dag) and (
            len(dag) > LARGEST_LIST or not np.array_equal(dag.work, dag.durations.mean(axis=1))
        )
    return len(dag) > LARGEST_LIST


def _tasks(dag: Dag) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = [
        {"name": name, "work": work}
        for name, work in zip(dag.names, dag.work.tolist(), strict=True)
    ]
    for task, row in zip(dag.own.tolist(), dag.durations.tolist(), strict=True):
        entries[task] = {"name": dag.names[task], "durations": row}
    for name, (_, default) in PER_TASK.items():
        column = getattr(dag, name)
        for task in np.flatnonzero(column != default).tolist():
            entries[task][name] = column[task].item()
    return entries


def _edges(dag: Dag) -> list[dict[str, Any]]:
    ends = zip(dag.source.tolist(), dag.target.tolist(), dag.size.tolist(), strict=True)
    return [{"from": dag.names[a], "to": dag.names[b], "size": size} for a, b, size in ends]


def _columns(dag: Dag) -> dict[str, Any]:
    entry: dict[str, Any] = {"work": dag.work.tolist()}
    if dag.names != Numbered("T", len(dag), first=1):
        entry["names"] = list(dag.names)
    if len(dag.own):
        entry["durations"] = dag.durations.tolist()
    for name, (_, default) in PER_TASK.items():
        if (getattr(dag, name) != default).any():
            entry[name] = getattr(dag, name).tolist()
    if len(dag.source):
        entry |= {name: getattr(dag, name).tolist() for name in ("source", "target", "size")}
    return entry


def schema() -> dict[str, Any]:
    """Return the JSON Schema of task graph files."""
    return schema_of(TaskGraphForm, "makespan task graph problem")
