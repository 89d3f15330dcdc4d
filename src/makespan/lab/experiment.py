"""What an experiment consists of, and the solves that it asks for."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple, cast

from makespan.core.display import Displayable, counted
from makespan.core.errors import InputError, MethodError
from makespan.core.inputs.files import PathLike
from makespan.core.inputs.rules import Mistakes, quoted
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.registry import Method, find_method
from makespan.flow.kinds import KINDS
from makespan.flow.solve import checked_limit
from makespan.lab.instances import Instance, Instances, Source, checked_seeds, sources_of
from makespan.lab.record import Record, key_of


class Cell(NamedTuple):
    """One solve that an experiment asks for."""

    instance: Instance
    method: str
    options: Mapping[str, Any]
    seed: int
    time_limit: float | None

    @property
    def options_text(self) -> str:
        return json.dumps(self.options, sort_keys=True) if self.options else ""

    @property
    def key(self) -> bytes:
        return key_of(self.instance.name, self.method, self.options_text, self.seed)


Where = Callable[[Iterator[Cell]], Iterator[list[Record]]]
"""Where solves run: takes cells when it has room for them, gives rows in whatever order."""

Named = tuple[str, Mapping[str, Any]]
Methods = str | Sequence[str | Named]  # methods by their names, with options where they have some


@dataclass(frozen=True, slots=True, repr=False)
class Experiment(Displayable):
    """Instances × methods × seeds.

    Parameters
    ----------
    instances
        Files, folders, problems and :class:`makespan.Grid` of generated ones: one of them or
        several, problems and files also by name. A folder stands for all problem files in it.
    methods
        Names of methods, ``"auto"`` among them; one with options is a pair of name and options.
    seeds
        How many runs of each method there are on each instance, of the seeds 0, 1, …; or a list
        of seeds.
    time_limit
        Seconds for each solve; None for no limit.
    parts
        Parts of problems that files lack, or that replace their own, as in
        :func:`makespan.read_problem`: ``{"machines": 8}``. They join the names of the instances.

    Raises
    ------
    InputError
        With every mistake found. Instances are read where they are solved: what is wrong with one
        of them stands in its row.

    >>> from makespan import Grid
    >>> grid = Grid("independent", options={"tasks": [8, 12]})
    >>> experiment = Experiment(grid, methods=["lpt", "multifit"], seeds=3)
    >>> experiment
    <Experiment: 2 instances, 2 methods, 3 seeds, 12 solves>
    """

    instances: Instances
    _: KW_ONLY
    methods: Methods
    seeds: int | Sequence[int] = 1
    time_limit: float | None = 10
    folder: PathLike = ""
    parts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        mistakes = Mistakes()
        set_ = object.__setattr__
        if not isinstance(self.parts, Mapping):
            mistakes.add("parts", f"{quoted(self.parts)} is not a table of keys and values")
            set_(self, "parts", {})
        set_(self, "instances", sources_of(self.instances, mistakes, self.folder, self.parts))
        set_(self, "methods", _methods(self.methods, mistakes))
        set_(self, "seeds", checked_seeds(self.seeds, mistakes))
        try:
            checked_limit(self.time_limit)
        except MethodError as error:
            place, _, text = str(error).partition(": ")
            mistakes.add(place, text)
        mistakes.raise_if_any(InputError)

    @property
    def sources(self) -> tuple[Source, ...]:
        return cast(tuple[Source, ...], self.instances)

    @property
    def _chosen(self) -> tuple[Named, ...]:
        return cast(tuple[Named, ...], self.methods)

    @property
    def limit(self) -> float | None:
        """The time limit as it stands in rows: None where it is infinite, too."""
        none = self.time_limit is None or math.isinf(self.time_limit)
        return None if none else float(self.time_limit)  # type: ignore[arg-type]

    def __len__(self) -> int:
        """Return how many solves it asks for."""
        assert not isinstance(self.seeds, int)
        return sum(map(len, self.sources)) * len(self._chosen) * len(self.seeds)

    def cells(self) -> Iterator[Cell]:
        """Yield the solves, always in the same order: those of one instance together."""
        assert not isinstance(self.seeds, int)
        for source in self.sources:
            for instance in source:
                for method, options in self._chosen:
                    for seed in self.seeds:
                        yield Cell(instance, method, options, seed, self.limit)

    def _facts(self) -> Sequence[str]:
        assert not isinstance(self.seeds, int)
        return [
            counted(sum(map(len, self.sources)), "instance"),
            counted(len(self._chosen), "method"),
            counted(len(self.seeds), "seed"),
            counted(len(self), "solve"),
        ]


def _methods(given: Any, mistakes: Mistakes) -> tuple[Named, ...]:
    """Return names with options, each refused that no kind of problem has."""
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, (list, tuple)):
        mistakes.add("methods", f"{quoted(given)} is not a list of methods")
        return ()
    if not given:
        mistakes.add("methods", "names none")
    found: dict[str, Named] = {}
    for index, each in enumerate(given):
        place = f"methods[{index}]"
        name, options = each if isinstance(each, (list, tuple)) and len(each) == 2 else (each, {})
        if not isinstance(name, str) or not isinstance(options, Mapping):
            text = f"{quoted(each)} is neither a method's name nor a pair of name and options"
            mistakes.add(place, text)
            continue
        try:
            options_text = json.dumps(dict(options), sort_keys=True)
            _refuse_unknown(name, options)
        except (MethodError, TypeError, ValueError) as error:
            mistakes.add(place, str(error))
            continue
        found[f"{name} {options_text}"] = (name, dict(options))
    return tuple(found.values())


def _refuse_unknown(name: str, options: Mapping[str, Any]) -> None:
    if name == "auto":
        return
    having: list[Method] = []
    refusals = []
    for kind in KINDS:
        try:
            having.append(find_method(kind, name))
        except MethodError as error:
            refusals.append(str(error))
    if not having:
        near = [text.partition("; ")[2] for text in refusals if "did you mean" in text]
        raise MethodError(f"there is no method {name!r}{'; ' * bool(near)}{''.join(near[:1])}")
    known = {option for method in having for option in method.options}
    for option in options:
        if option not in known:
            raise MethodError(f"{name} has no option {option!r}{did_you_mean(option, known)}")
