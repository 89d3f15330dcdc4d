"""Problems of independent tasks in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from makespan.core.inputs.forms import (
    PROBLEM_FORMAT,
    Column,
    ProblemForm,
    Value,
    schema_of,
    validated,
)
from makespan.independent.problem import DURATION, MACHINES, IndependentTasks


class IndependentForm(ProblemForm):
    """Independent tasks on identical machines."""

    kind: Literal["independent"]
    machines: Annotated[int, Value(MACHINES)]
    durations: Annotated[Any, Column(DURATION, one_for_all=False)]
    preemptive: bool = False


def read(data: Mapping[str, Any]) -> IndependentTasks:
    """Build the problem from the contents of a file.

    Raises
    ------
    ProblemError
        With every mistake found, each with its place in the file.

    >>> read({"kind": "independent", "machines": 2, "durations": [3, 2.5]}).machine_count
    2
    """
    form = validated(IndependentForm, data)
    return IndependentTasks(
        machines=form.machines,
        durations=form.durations,
        preemptive=form.preemptive,
        options=form.options,
    )


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
    if problem.options:
        data["options"] = dict(problem.options)
    return data


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the kind's files."""
    return schema_of(IndependentForm, "Independent tasks")
