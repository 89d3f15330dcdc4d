"""experiment.toml → the experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field

from makespan.core.errors import FileError, InputError, Mistake, headed
from makespan.core.inputs.files import PathLike, read_text, shown_path
from makespan.core.inputs.forms import Form, validated
from makespan.core.inputs.rules import Mistakes, Rule, quoted, refusal
from makespan.core.inputs.suggest import suggesting
from makespan.flow.files.documents import TABLES, parsed
from makespan.lab.experiment import Experiment
from makespan.lab.instances import Grid

ANY = Grid("independent")
"""Stands for an instance that is refused, so that the others are counted as they stand."""
JOBS = Rule("it is a number of processes, 1 or more", low=1, whole=True)


class ExperimentForm(Form):
    format: Literal["makespan.experiment/1"] | None = None
    instances: list[Any]
    methods: list[Any]
    seeds: Any = 1
    time_limit: Any = 10
    jobs: Any = None
    scheduler: str | None = None
    output: str | None = None
    parts: dict[str, Any] = Field(default_factory=dict)


class GridForm(Form):
    generate: str
    options: dict[str, Any] | None = None
    seeds: Any = 1


class MethodForm(Form):
    method: str
    options: dict[str, Any] | None = None


FormT = TypeVar("FormT", bound=Form)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a file asks for: an experiment, and perhaps where it is solved and into which file.

    ``parts`` are those of the experiment, for callers that replace some of them.
    """

    parts: Mapping[str, Any]
    jobs: int | None
    scheduler: str | None
    output: Path | None


@suggesting
def read_experiment(path: PathLike) -> Experiment:
    """Read an experiment from a TOML or JSON file, whose ``jobs`` and the like the command reads.

    Raises
    ------
    FileError
        If the file can't be read.
    InputError
        With every mistake found, each with its place in the file.

    >>> import makespan
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
    ...     print('instances = [{ generate = "independent", seeds = 3 }]', file=file)
    ...     print('methods = ["lpt", "multifit"]', file=file, flush=True)
    ...     makespan.read_experiment(file.name)
    <Experiment: 3 instances, 2 methods, 1 seed, 6 solves>
    """
    asked = asked_in(path)
    with headed(shown_path(path)):
        return Experiment(**asked.parts)


def is_experiment(path: PathLike) -> bool:
    """Whether a file says what an experiment is: it has ``instances``."""
    if Path(path).suffix.lower() not in TABLES or not Path(path).is_file():
        return False
    try:
        text = read_text(path)
        if "makespan.experiment/" not in text and "instances" not in text:
            return False  # a large problem is parsed once
        data = parsed(path)
    except InputError:
        return False
    stated = str(data.get("format", "")).partition("/")[0]
    return "kind" not in data and ("instances" in data or stated == "makespan.experiment")


def asked_in(path: PathLike) -> Asked:
    """Return what a file asks for; see :func:`read_experiment`."""
    data = parsed(path)
    try:
        return _asked(data, Path(path).parent)
    except FileError:
        raise
    except InputError as error:
        raise InputError(error.mistakes, heading=shown_path(path)) from None


def _asked(data: Mapping[str, Any], folder: Path) -> Asked:
    form = validated(ExperimentForm, data)
    mistakes = Mistakes()
    instances = _listed(
        form.instances,
        "instances",
        GridForm,
        lambda grid: Grid(grid.generate, options=grid.options or {}, seeds=grid.seeds),
        ("a path", "generate", ANY),
        mistakes,
    )
    methods = _listed(
        form.methods,
        "methods",
        MethodForm,
        lambda one: (one.method, one.options or {}),
        ("a name", "method", "auto"),
        mistakes,
    )
    if form.jobs is not None:
        text = refusal(form.jobs, JOBS)
        if text is None and form.scheduler is not None:
            text = "stands beside scheduler: solves run in one place"
        if text is not None:
            mistakes.add("jobs", text)
    parts = {
        "instances": instances,
        "methods": methods,
        "seeds": form.seeds,
        "time_limit": form.time_limit,
        "parts": form.parts,
        "folder": folder,
    }
    if mistakes:
        try:
            Experiment(**parts)
        except InputError as error:
            mistakes.extend(error.mistakes)
    mistakes.raise_if_any(InputError)
    output = None if form.output is None else folder / form.output
    return Asked(parts=parts, jobs=form.jobs, scheduler=form.scheduler, output=output)


def _listed(
    values: list[Any],
    name: str,
    form: type[FormT],
    made: Callable[[FormT], Any],
    known: tuple[str, str, Any],
    mistakes: Mistakes,
) -> list[Any]:
    """Return texts as they are and tables as what they say.

    ``known`` are what a text is, what a table has, and what stands for values that are refused.
    """
    text, key, instead = known
    found: list[Any] = []
    for index, each in enumerate(values):
        place = f"{name}[{index}]"
        found.append(each if isinstance(each, str) else instead)
        if isinstance(each, dict):
            try:
                found[-1] = made(validated(form, each, place=place))
            except InputError as error:
                mistakes.extend(tuple(_at(place, one) for one in error.mistakes))
        elif not isinstance(each, str):
            mistakes.add(place, f"{quoted(each)} is neither {text} nor a table with '{key}'")
    return found


def _at(place: str, one: Mistake) -> Mistake:
    if one.place.startswith(place):
        return one
    own = "generate" if one.place == "kind" else one.place
    return one._replace(place=f"{place}.{own}")
