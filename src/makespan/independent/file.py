"""Problems of independent tasks in files."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from makespan.core.inputs.forms import (
    PROBLEM_FORMAT,
    Column,
    ProblemForm,
    Table,
    Value,
    schema_of,
    validated,
)
from makespan.independent.problem import (
    CAPACITY,
    COUNT,
    DURATION,
    ENTRY,
    LEAST,
    MACHINES,
    MOST,
    RELEASE,
    SIZE,
    SPEED,
    IndependentTasks,
)


class Durations(Column):
    """A list of numbers, or rows of them: a number for each machine."""

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        entry = Column(ENTRY, one_for_all=False).__get_pydantic_json_schema__(schema, handler)
        listed = Column(DURATION, one_for_all=False).__get_pydantic_json_schema__(schema, handler)
        return {"anyOf": [listed, {"type": "array", "items": entry}]}

    def checked(self, values: Any) -> Any:
        """Return an array, or an array a row; or raise the first few mistakes."""
        rows = isinstance(values, list) and any(isinstance(each, list) for each in values)
        return Table(DURATION, ENTRY).checked(values) if rows else Column.checked(self, values)


class Counts(Value):
    """A word, a number for all machines, a list of one for each, or a table of both limits."""

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        column = Column(COUNT).__get_pydantic_json_schema__(schema, handler)
        table = {"type": "object", "properties": {LEAST: column, MOST: column}}
        return {"anyOf": [{"const": "equal"}, column, {**table, "additionalProperties": False}]}

    def checked(self, value: Any) -> Any:
        """Return what was read: the problem checks it."""
        return value


class IndependentForm(ProblemForm):
    """Independent tasks on machines: identical, uniform (speeds) or unrelated (a table)."""

    kind: Literal["independent"]
    machines: Annotated[int, Value(MACHINES)]
    durations: Annotated[Any, Durations(DURATION, one_for_all=False)]
    speeds: Annotated[Any, Column(SPEED, one_for_all=False)] = None
    release: Annotated[Any, Column(RELEASE)] = 0.0
    preemptive: bool = False
    counts: Annotated[Any, Counts(COUNT)] = None
    sizes: Annotated[Any, Column(SIZE, one_for_all=False)] = None
    capacity: Annotated[Any, Column(CAPACITY)] = None
    names: list[str] | None = None


def read(data: Mapping[str, Any]) -> IndependentTasks:
    """Build the problem from the contents of a file.

    Raises ProblemError with every mistake found, each with its place in the file.

    >>> read({"kind": "independent", "machines": 2, "durations": [3, 2.5]}).machine_count
    2
    """
    if isinstance(data, Mapping) and isinstance(data.get("durations"), Mapping):
        durations = data["durations"]
        data = {"names": list(durations), **data, "durations": list(durations.values())}
    form = validated(IndependentForm, data)
    own = {*IndependentForm.model_fields} - {"format", "kind"}
    return IndependentTasks(**{name: getattr(form, name) for name in own})


def write(problem: IndependentTasks) -> dict[str, Any]:
    """Return the problem as the contents of a file; ``read`` gives an equal problem back.

    >>> write(IndependentTasks(machines=2, durations=[3, 2.5]))["durations"]
    [3.0, 2.5]
    """
    data: dict[str, Any] = {
        "format": PROBLEM_FORMAT,
        "kind": "independent",
        "machines": problem.machine_count,
        "durations": problem.durations.tolist(),
        "preemptive": problem.preemptive,
    }
    for name, column in (("speeds", problem.speeds), ("release", problem.release)):
        if column is not None:
            data[name] = column.tolist()
    if problem.counts is not None:
        data["counts"] = problem.counts
    if problem.sizes is not None and problem.capacity is not None:
        data["sizes"] = problem.sizes.tolist()
        room = problem.capacity
        alike = len(room) > 0 and bool((room == room[0]).all())
        data["capacity"] = float(room[0]) if alike else room.tolist()
    if problem.names is not None:
        data["names"] = list(problem.names)
    if problem.options:
        data["options"] = dict(problem.options)
    return data


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the kind's files."""
    return schema_of(IndependentForm, "Independent tasks")
