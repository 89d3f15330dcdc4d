"""The register of methods: what exists, what it needs, what it proves."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from makespan.core.display import Displayable, HasFrame, Table, counted
from makespan.core.errors import MethodError
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.solution import Solution
from makespan.core.system.startup import missing, startup

Run = TypeVar("Run", bound=Callable[..., Solution])


class Need(NamedTuple):
    """What a method needs of a problem.

    ``unmet`` returns the place and value that stand in the way, or None. A ``decisive`` need
    comes first: the others make sense only where it is met. A ``library`` is not the problem's.
    """

    text: str
    unmet: Callable[[Any], str | None]
    decisive: bool = False
    library: bool = False


def condition(
    text: str, met: Callable[[Any], object], otherwise: str, *, decisive: bool = False
) -> Need:
    """Need that a test is met; where it is not, the problem is as ``otherwise`` says."""
    return Need(text, lambda problem: None if met(problem) else otherwise, decisive)


def one_of(name: str, *allowed: object, text: str = "", decisive: bool = False) -> Need:
    """Need that a field has one of these values.

    >>> one_of("order", "free", "greedy").text
    "order = 'free' or 'greedy'"
    """

    def unmet(problem: Any) -> str | None:
        value = getattr(problem, name)
        return None if value in allowed else f"{name} is {value!r}"

    return Need(text or f"{name} = {' or '.join(map(repr, allowed))}", unmet, decisive)


def at_most(
    most: float, what: str, count: Callable[[Any], float], *, said: str = "there are {:,.0f}"
) -> Need:
    """Need that there are no more of something than that: how far a method reaches.

    >>> at_most(1_000, "items", len).text
    'at most 1,000 items'
    """

    def unmet(problem: Any) -> str | None:
        number = count(problem)
        return said.format(number) if number > most else None

    return Need(f"at most {most:,.0f} {what}", unmet)


CP_SAT = Need("CP-SAT", lambda problem: missing("ortools"), library=True)
"""What methods need that search with CP-SAT, to prove plans optimal that others can't."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A registered method."""

    name: str  # its name in the literature
    run: Callable[..., Solution]  # ``(problem, control, *, options) -> Solution``
    needs: tuple[Need, ...] = ()  # what it needs of a problem; it applies where all are met
    reach: tuple[Need, ...] = ()
    proves: str | None = None
    published: bool = False  # kept for comparison: ``auto`` never picks it
    complexity: str  # for the reader, as ``source``
    source: str

    @property
    def summary(self) -> str:
        """The first line of the docstring of ``run``."""
        return (inspect.getdoc(self.run) or "").partition("\n")[0]

    @property
    def options(self) -> dict[str, Any]:
        """The options and their defaults."""
        parameters = inspect.signature(self.run).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


@dataclass(frozen=True, slots=True, kw_only=True)
class Applicability:
    """A method, and why it does not apply to a problem (empty where it does)."""

    method: Method
    reasons: tuple[str, ...] = ()

    @property
    def applies(self) -> bool:
        return not self.reasons

    @property
    def name(self) -> str:
        return self.method.name

    def __str__(self) -> str:
        if self.applies:
            return f"{self.name}: {self.method.summary}"
        return f"{self.name}: does not apply: {'; '.join(self.reasons)}"


class Methods(tuple[Applicability, ...], Displayable, HasFrame):
    """Methods, each with why it does not apply; printed as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        able = [verdict for verdict in self if verdict.applies]
        others = [verdict for verdict in self if not verdict.applies]
        if not others:
            return "\n".join(_listed(able))
        blocks = [["these apply", *_listed(able)]] if able else []
        width = max(len(verdict.name) for verdict in others)
        reasons = [
            f"  {verdict.name if not index else '':<{width}}  {reason}"
            for verdict in others
            for index, reason in enumerate(verdict.reasons)
        ]
        blocks.append(["these do not", *reasons])
        return "\n\n".join("\n".join(block) for block in blocks)

    __repr__ = __str__

    def _facts(self) -> Sequence[str]:
        able = sum(verdict.applies for verdict in self)
        return [counted(len(self), "method"), f"{able} of them apply"][: 1 + (able < len(self))]

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        methods = [verdict.method for verdict in self]
        columns: dict[str, Sequence[Any]] = {
            "method": [method.name for method in methods],
            "does": [method.summary for method in methods],
            "exact": [method.proves is not None for method in methods],
            "published": [method.published for method in methods],
            "options": [_options(method) for method in methods],
        }
        if not all(verdict.applies for verdict in self):
            columns["applies"] = [verdict.applies for verdict in self]
            columns["why not"] = ["; ".join(verdict.reasons) for verdict in self]
        return columns

    def _tables(self) -> Sequence[Table]:
        words = {True: "yes", False: ""}
        named = {
            name: [words.get(cell, cell) if isinstance(cell, bool) else cell for cell in column]
            for name, column in self._columns().items()
        }
        return [Table.of(named)]


def _options(method: Method) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in method.options.items())


def _listed(verdicts: Sequence[Applicability]) -> list[str]:
    width = max((len(verdict.name) for verdict in verdicts), default=0)
    lines = []
    for verdict in verdicts:
        method = verdict.method
        words = [
            word
            for word, said in (("exact", method.proves), ("published", method.published))
            if said
        ]
        label = f" [{', '.join(words)}]" if words else ""
        lines.append(f"  {verdict.name:<{width}}  {method.summary}{label}")
        if method.options:
            lines.append(f"  {'':<{width}}  options: {_options(method)}")
    return lines


_REGISTER: dict[str, dict[str, Method]] = {}


def register(
    kind: str = "",
    *,
    name: str = "",
    needs: tuple[Need, ...] = (),
    reach: tuple[Need, ...] = (),
    proves: str | None = None,
    published: bool = False,
    complexity: str,
    source: str,
) -> Callable[[Run], Run]:
    """Register a function as a method; in its kind's folder, kind and name can be left out."""

    def decorate(run: Run) -> Run:
        called = name or run.__name__.replace("_", "-")
        package, _, room = run.__module__.partition(".")
        if not kind and (package != "makespan" or not room):
            raise TypeError(f"{called} is in no folder of a kind: name its kind first")
        methods = _REGISTER.setdefault(kind or room.partition(".")[0], {})
        methods[called] = Method(
            name=called,
            run=run,
            needs=needs,
            reach=reach,
            proves=proves,
            published=published,
            complexity=complexity,
            source=source,
        )
        return run

    return decorate


def methods_of(kind: str) -> tuple[Method, ...]:
    """Return the methods of a kind in alphabetical order, importing them on first use."""
    for name in _modules(kind):
        _load(kind, name)
    return tuple(method for _, method in sorted(_REGISTER.get(kind, {}).items()))


def find_method(kind: str, name: str) -> Method:
    """Return the method of ``kind`` called ``name``, importing its file alone.

    Raises MethodError if there is none; the message names the nearest.
    """
    _load(kind, name)
    known = _REGISTER.get(kind, {})
    if name not in known:
        hint = did_you_mean(name, {*_modules(kind), *known})
        raise MethodError(f"there is no method {name!r} for {kind} problems{hint}")
    return known[name]


def _load(kind: str, name: str) -> None:
    if name not in _REGISTER.get(kind, {}) and name in _modules(kind):
        with startup():
            import_module(_modules(kind)[name])


@cache
def _modules(kind: str) -> dict[str, str]:
    """Return the module of each method: ``subset-dp`` is in ``subset_dp.py``, in whatever folder.

    Methods that are alike share a file where ``SHARED`` of the package says so; ``BESIDE`` are
    other rooms of the kind whose functions are methods, too.
    """
    package = import_module(f"makespan.{kind}.methods")
    beside = (import_module(f"makespan.{kind}.{room}") for room in getattr(package, "BESIDE", ()))
    found = {
        name: file
        for room in (package, *beside)
        for folder in room.__path__
        for name, file in _below(folder, room)
    }
    for name, methods in getattr(package, "SHARED", {}).items():
        found |= dict.fromkeys(methods, found.pop(name))
    return found


def _below(folder: str, package: ModuleType) -> Iterator[tuple[str, str]]:
    for path in sorted(Path(folder).rglob("*.py")):
        steps = path.relative_to(folder).with_suffix("").parts
        if steps[-1] != "__init__":
            yield steps[-1].replace("_", "-"), ".".join((package.__name__, *steps))


def applicability(method: Method, problem: Any) -> Applicability:
    """Return whether ``method`` applies to ``problem``, and if not, why."""
    reasons = []
    for need in method.needs:
        obstacle = need.unmet(problem)
        if obstacle is not None:
            reasons.append(f"needs {need.text}, but {obstacle}")
            if need.decisive:
                break
    return Applicability(method=method, reasons=tuple(reasons))


def within_reach(method: Method, problem: Any) -> bool:
    """Whether ``problem`` is of a size at which ``auto`` hands it to ``method``."""
    return all(need.unmet(problem) is None for need in method.reach)
