"""Files → what the page offers: problems to begin with, and exercises, a lecturer's own, too."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import Field

from makespan.core.errors import FileError, InputError, Mistake, ProblemError
from makespan.core.inputs.forms import Form, validated
from makespan.flow.files.files import as_dict, problem_of


class ExerciseForm(Form):
    """An exercise, as its file has it."""

    format: Literal["makespan.exercise/1"] = "makespan.exercise/1"
    title: str
    question: str
    hints: list[str] = Field(default_factory=list)
    method: str = "auto"
    best: float | None = Field(None, ge=0)  # the least makespan, where it is known
    problem: dict[str, Any]
    grading: dict[str, Any] = Field(default_factory=dict, exclude=True)  # of makespan-grade


def read_exercise(text: str) -> dict[str, Any]:
    r"""Return the exercise in the text of a TOML file, its problem as files have it.

    Raises FileError if the text is not TOML; ProblemError with every mistake in it and in its
    problem.

    >>> problem = '{ kind = "independent", machines = 2, durations = [1] }'
    >>> text = f'title = "One"\nquestion = "Where?"\nproblem = {problem}'
    >>> read_exercise(text)["method"]
    'auto'
    """
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise FileError(f"the exercise is not TOML: {error}") from None
    form = validated(ExerciseForm, data)
    try:
        problem = problem_of(form.problem)
    except InputError as error:
        raise ProblemError(
            [Mistake(f"problem.{found.place}", found.message) for found in error.mistakes]
        ) from None
    return {**form.model_dump(exclude_none=True), "problem": as_dict(problem)}


@cache
def exercises() -> tuple[dict[str, Any], ...]:
    """Return the exercises that come with the studio, in the order of their files.

    >>> [exercise["problem"]["kind"] for exercise in exercises()][:2]
    ['taskgraph', 'taskgraph']
    """
    return tuple(read_exercise(text) for _, text in _texts("exercises"))


def examples() -> list[dict[str, str]]:
    """Return each example: its name, its kind, its title and its text.

    >>> sorted({example["kind"] for example in examples()})
    ['divisible', 'independent', 'partition', 'reduction', 'taskgraph']
    """
    return [
        {
            "name": name.removesuffix(".toml"),
            "kind": tomllib.loads(text)["kind"],
            "title": text.partition("\n")[0].removeprefix("#").strip(),
            "toml": text,
        }
        for name, text in _texts("examples")
    ]


def _texts(folder: str) -> Iterator[tuple[str, str]]:
    """Yield the names and the texts of the TOML files in a folder of the studio, by name."""
    for path in sorted((files("makespan.studio") / folder).iterdir(), key=lambda path: path.name):
        if path.name.endswith(".toml"):
            yield path.name, path.read_text("utf-8")
