"""What is solved in an experiment: files, problems, and grids of generated ones."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from makespan.core.errors import InputError, Mistake, ProblemError
from makespan.core.inputs.files import PathLike
from makespan.core.inputs.rules import Mistakes, Rule, quoted, refusal
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.problem import Problem, is_problem
from makespan.flow.files.documents import named_with
from makespan.flow.files.files import read_problem
from makespan.flow.files.reading import problem_files
from makespan.flow.kinds import generate, generator_options, kind_named

COUNT = Rule("it is a number of seeds, 1 or more, or a list of seeds", low=1, whole=True)
SEED = Rule("a seed is a whole number, 0 or more", whole=True)


class Instance(Protocol):
    """A problem that is named now and made where it is solved."""

    @property
    def name(self) -> str: ...

    def problem(self) -> Problem:
        """Return the problem, or raise what is wrong with it."""


@dataclass(frozen=True, slots=True)
class InFile:
    file: str
    path: str
    parts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return named_with(self.file, self.parts)

    def problem(self) -> Problem:
        return read_problem(self.path, **self.parts)


@dataclass(frozen=True, slots=True)
class Given:
    name: str
    given: Problem

    def problem(self) -> Problem:
        return self.given


@dataclass(frozen=True, slots=True)
class Generated:
    kind: str
    options: Mapping[str, Any]
    seed: int

    @property
    def name(self) -> str:
        """The kind with what was asked of its generator: the same for the same problem."""
        options = sorted(self.options.items())
        words = [f"{name}={v if isinstance(v, str) else json.dumps(v)}" for name, v in options]
        return " ".join([self.kind, *words, f"seed={self.seed}"])

    def problem(self) -> Problem:
        return generate(self.kind, seed=self.seed, options=self.options)


@dataclass(frozen=True, slots=True)
class Grid:
    """Random problems: every combination of the options of a generator, which needs no files.

    Parameters
    ----------
    kind
        A kind of problem.
    options
        Options of its generator (``makespan generate`` lists them), each a value or a list of
        values to combine.
    seeds
        How many problems of each combination there are, of the seeds 0, 1, …; or their seeds.

    Raises
    ------
    InputError
        If there is no such kind or option, or a seed is none.

    >>> grid = Grid("independent", options={"tasks": [20, 50], "machines": 3}, seeds=2)
    >>> len(grid), next(iter(grid)).name
    (4, 'independent machines=3 tasks=20 seed=0')
    """

    kind: str
    _: KW_ONLY
    options: Mapping[str, Any] = field(default_factory=dict)
    seeds: int | Sequence[int] = 1

    def __post_init__(self) -> None:
        mistakes = Mistakes()
        try:
            kind_named(self.kind)
        except ProblemError as error:
            raise InputError([Mistake("kind", str(error).removeprefix("kind: "))]) from None
        known = generator_options(self.kind)
        if not isinstance(self.options, Mapping):
            raise InputError(f"options: {quoted(self.options)} is not a table of options")
        for name, value in self.options.items():
            if name not in known:
                hint = did_you_mean(name, known)
                mistakes.add("options", f"{self.kind} problems have no option {quoted(name)}{hint}")
            elif isinstance(value, (list, tuple)) and not value:
                mistakes.add(f"options.{name}", "is an empty list; it is a value, or several")
            else:
                try:
                    json.dumps(value)
                except (TypeError, ValueError):
                    mistakes.add(f"options.{name}", f"{quoted(value)} can't stand in a file")
        seeds = checked_seeds(self.seeds, mistakes)
        mistakes.raise_if_any(InputError)
        axes = {n: tuple(v) if isinstance(v, list) else v for n, v in self.options.items()}
        object.__setattr__(self, "options", axes)
        object.__setattr__(self, "seeds", seeds)

    def _axes(self) -> list[Sequence[Any]]:
        return [v if isinstance(v, tuple) else (v,) for v in self.options.values()]

    def __len__(self) -> int:
        assert not isinstance(self.seeds, int)
        return math.prod(map(len, self._axes())) * len(self.seeds)

    def __iter__(self) -> Iterator[Generated]:
        assert not isinstance(self.seeds, int)
        for values in itertools.product(*self._axes()):
            for seed in self.seeds:
                yield Generated(self.kind, dict(zip(self.options, values, strict=True)), seed)


def checked_seeds(seeds: Any, mistakes: Mistakes) -> Sequence[int]:
    """Return the seeds that ``seeds`` stands for; on a mistake, note it."""
    if not isinstance(seeds, (list, tuple, range)):
        text = refusal(seeds, COUNT)
        if text is not None:
            mistakes.add("seeds", text)
            return range(1)
        return range(int(seeds))
    if not seeds:
        mistakes.add("seeds", f"is an empty list; {COUNT.allowed}")
    for index, seed in enumerate(() if isinstance(seeds, range) and seeds[0] >= 0 else seeds):
        text = refusal(seed, SEED)
        if text is not None:
            mistakes.add(f"seeds[{index}]", text)
        elif seed in seeds[:index]:
            mistakes.add(f"seeds[{index}]", f"{seed} stands in the list before")
    return seeds if isinstance(seeds, range) else tuple(seeds)


Source = Sequence[Instance] | Grid
One = PathLike | Problem | Grid
Instances = One | Iterable[One] | Mapping[str, PathLike | Problem]  # what an experiment is to solve


def sources_of(
    given: Any, mistakes: Mistakes, folder: PathLike = "", parts: Mapping[str, Any] | None = None
) -> tuple[Source, ...]:
    """Return what ``given`` stands for: files, folders, grids, problems, also by name.

    Nothing is read but the names of the files in folders. Paths are relative to ``folder``.
    ``parts`` of problems take the place of those in files.
    """
    if isinstance(given, (str, os.PathLike, Grid)) or is_problem(given):
        given = [given]
    elif not isinstance(given, Iterable):
        mistakes.add("instances", f"{quoted(given)} is neither a problem, a path nor a grid")
        return ()
    entries = given.items() if isinstance(given, Mapping) else [(None, each) for each in given]
    files: dict[str, InFile] = {}
    sources: list[Source] = []
    for index, (name, each) in enumerate(entries):
        place = f"instances[{index}]"
        if isinstance(each, Grid):
            sources.append(each)
        elif is_problem(each):
            sources.append([Given(name or f"problem {index + 1}", each)])
        elif isinstance(each, (str, os.PathLike)) and os.fspath(each) not in ("", "-"):
            try:
                own = (replace(one, parts=parts or {}) for one in _files(each, name, folder))
                files |= {one.name: one for one in own}
            except InputError as error:
                mistakes.add(place, str(error))
        else:
            mistakes.add(place, f"{quoted(each)} is neither a problem, a path nor a grid")
    if not (files or sources or mistakes):
        mistakes.add("instances", "names none")
    return (*([list(files.values())] if files else []), *sources)


def _files(given: PathLike, name: str | None, folder: PathLike) -> Iterator[InFile]:
    path = Path(folder, given)
    if path.is_dir():
        for file in problem_files(path):
            yield InFile(str(Path(given, file.name)), str(file))
    elif path.exists():
        yield InFile(name or os.fspath(given), str(path))
    else:
        raise InputError(f"{given}: there is no such file or folder")
