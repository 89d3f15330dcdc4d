"""Methods side by side: a row each, as data and as text."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from makespan.core.display import (
    Axes,
    Displayable,
    Exportable,
    HasFrame,
    Table,
    as_csv,
    counted,
    renderers,
)
from makespan.core.problem import Problem
from makespan.drawing.text import shortened
from makespan.flow.result import Result
from makespan.flow.serialize import as_json

FORMAT = "makespan.comparison/1"
COLUMNS = ("method", "status", "value", "makespan", "gap", "runtime", "best", "note")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How one method did."""

    method: str
    status: str  # of its result; ``"failed"`` where there is none, and ``note`` says why
    value: float | None = None  # what was reached: the makespan, seconds, or another objective
    makespan: float | None = None  # the end of its schedule, seconds
    gap: float | None = None  # the distance of its value to the best bound that any method proved
    runtime: float | None = None  # seconds
    note: str = ""  # why it failed, or the first note that says more than why a gap is left
    best: bool = False  # whether no other method did better (to within 1e-9)


class Compared(Displayable, HasFrame, Exportable):
    """What comparisons have in common: they are tables, frames, files and pictures."""

    __slots__ = ()
    SUFFIXES = (".csv", ".json", ".svg", ".png", ".pdf", ".html")

    @abstractmethod
    def named(self) -> Mapping[str, Comparison]:
        """Return the comparisons by what stands above them."""

    @abstractmethod
    def _document(self) -> dict[str, Any]:
        """Return what stands in a JSON file."""

    def _in_form(self, suffix: str) -> str | bytes:
        if suffix == ".csv":
            return as_csv(self._columns())
        if suffix == ".json":
            return as_json(self._document()) + "\n"
        return renderers().image(self, suffix)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparison(Compared):
    """Methods side by side, the best first.

    Parameters
    ----------
    problem
        The problem that was solved.
    rows
        One :class:`Row` a method: by what it reached, then by name; those that failed come last.
    results
        The results of the methods that gave one, by name.
    lower_bound
        The best bound on the makespan that any of them proved, seconds.
    interrupted
        Whether the user stopped the comparison before all methods had run.

    >>> import makespan
    >>> tasks = makespan.IndependentTasks(machines=2, durations=[3, 3, 2, 2, 2])
    >>> comparison = makespan.compare(tasks, methods=["lpt", "multifit"])
    >>> [(row.method, row.makespan) for row in comparison.rows]
    [('multifit', 6.0), ('lpt', 7.0)]
    """

    problem: Problem
    rows: tuple[Row, ...]
    results: dict[str, Result]
    lower_bound: float | None = None
    interrupted: bool = False

    @property
    def objective(self) -> str:
        """The name of what the methods are compared by."""
        results = self.results.values()
        objectives = {result.objective.name for result in results if result.objective is not None}
        return objectives.pop() if len(objectives) == 1 else "makespan"

    def __str__(self) -> str:
        bound = "" if self.lower_bound is None else f"\nlower bound {self.lower_bound:.8g}"
        notes = "".join(f"\nnote: {note}" for note in getattr(self.problem, "notes", ()))
        return f"{_table(self)}{bound}{notes}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a bar for each method with matplotlib, and a line at the bound."""
        return renderers().plot(self, ax)

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return {name: [getattr(row, name) for row in self.rows] for name in COLUMNS}

    def _facts(self) -> Sequence[str]:
        facts = [self.problem.kind, counted(len(self.rows), "method")]
        if self.rows and self.rows[0].value is not None:
            facts.append(f"{self.objective} {self.rows[0].value:.6g} by {self.rows[0].method}")
        return facts

    def _tables(self) -> Sequence[Table]:
        return [_table(self)]

    def _picture(self) -> str:
        return str(renderers().image(self, ".svg"))

    def named(self) -> Mapping[str, Comparison]:
        return {f"{self.problem.kind}: methods side by side": self}

    def _document(self) -> dict[str, Any]:
        return {"format": FORMAT, "comparisons": [self.as_dict()]}

    def as_dict(self) -> dict[str, Any]:
        """Return the rows as they stand in JSON."""
        return {
            "kind": self.problem.kind,
            "lower_bound": self.lower_bound,
            "rows": [{name: getattr(row, name) for name in COLUMNS} for row in self.rows],
        }


def _table(comparison: Comparison) -> Table:
    """Return the rows; notes of the problem itself stand below them, once."""
    rows, said = comparison.rows, getattr(comparison.problem, "notes", ())
    return Table.of(
        {
            "": ["*" if row.best else "" for row in rows],
            "method": [row.method for row in rows],
            "status": [row.status for row in rows],
            comparison.objective: ["" if row.value is None else f"{row.value:.8g}" for row in rows],
            "gap": ["" if row.gap is None else f"{100 * row.gap:.2f} %" for row in rows],
            "time": ["" if row.runtime is None else f"{row.runtime:.3f} s" for row in rows],
            "note": ["" if row.note in said else shortened(row.note) for row in rows],
        }
    )


THRESHOLDS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Distances to the best value, as shares of it, at which a performance profile is read."""
SAME = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodSummary:
    """A method over several problems."""

    method: str
    problems: int  # on how many it gave a plan
    best: int  # on how many of them no other method did better
    proved: int  # on how many of them it proved its plan optimal
    mean_ratio: float | None  # of its values to the best: geometric mean; None without plans
    max_ratio: float | None  # the largest
    mean_gap: float | None  # of its gaps to the best bounds; None where no bound is known
    runtime: float  # seconds in all

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def summarise(comparisons: Sequence[Comparison]) -> tuple[MethodSummary, ...]:
    """Return how each method did over all problems: the most often best first, then by ratio."""
    names = dict.fromkeys(row.method for each in comparisons for row in each.rows)
    found = [_summary(name, comparisons) for name in names]
    return tuple(sorted(found, key=lambda one: (-one.best, one.mean_ratio or math.inf, one.method)))


def _summary(method: str, comparisons: Sequence[Comparison]) -> MethodSummary:
    rows = [row for each in comparisons for row in each.rows if row.method == method]
    ratios = _ratios(method, comparisons)
    planned = [row for row in rows if row.value is not None]
    gaps = [row.gap for row in planned if row.gap is not None]
    return MethodSummary(
        method=method,
        problems=len(planned),
        best=sum(row.best for row in planned),
        proved=sum(row.status == "optimal" for row in planned),
        mean_ratio=math.exp(math.fsum(map(math.log, ratios)) / len(ratios)) if ratios else None,
        max_ratio=max(ratios, default=None),
        mean_gap=math.fsum(gaps) / len(gaps) if gaps else None,
        runtime=math.fsum(row.runtime or 0.0 for row in rows),
    )


def _ratio(value: float, best: float) -> float:
    """Return the worse over the better of two values, whichever way is better; at least 1."""
    low, high = min(value, best), max(value, best)
    if low == high:
        return 1.0
    return high / low if low > 0 else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRow:
    """How often a method was near the best.

    ``method``: its name. ``shares``: the shares of all problems on which its value was within each
    of ``THRESHOLDS`` of the best; a problem on which it gave no plan counts as far.
    """

    method: str
    shares: tuple[float, ...]

    def as_dict(self) -> dict[str, Any]:
        within = {f"{100 * x:g}": s for x, s in zip(THRESHOLDS, self.shares, strict=True)}
        return {"method": self.method, "within_percent": within}


def profile(comparisons: Sequence[Comparison]) -> tuple[ProfileRow, ...]:
    """Return the performance profile of the methods, those that are nearest most often first.

    Source: Dolan and Moré 2002.
    """
    names = dict.fromkeys(row.method for each in comparisons for row in each.rows)
    found = []
    for name in names:
        ratios = _ratios(name, comparisons)
        limits = [1 + threshold + SAME for threshold in THRESHOLDS]
        near = [sum(ratio <= limit for ratio in ratios) for limit in limits]
        shares = tuple(count / len(comparisons) for count in near)
        found.append(ProfileRow(method=name, shares=shares))
    return tuple(sorted(found, key=lambda row: (tuple(-s for s in row.shares), row.method)))


def _ratios(method: str, comparisons: Sequence[Comparison]) -> list[float]:
    """Return the values of a method over the best ones, where it gave a plan."""
    ratios = []
    for comparison in comparisons:
        row = next((row for row in comparison.rows if row.method == method), None)
        best = next((other.value for other in comparison.rows if other.best), None)
        if row is not None and row.value is not None and best is not None:
            ratios.append(_ratio(row.value, best))
    return ratios


def profile_table(rows: Sequence[ProfileRow]) -> Table:
    """Return a performance profile as a table: a line a method, a column a threshold."""
    columns = {"within … of the best": [row.method for row in rows]}
    for index, threshold in enumerate(THRESHOLDS):
        shares = [row.shares[index] for row in rows]
        columns[f"{100 * threshold:g} %"] = [f"{100 * share:.0f} %" for share in shares]
    return Table.of(columns)


def summary_table(summaries: Sequence[MethodSummary]) -> Table:
    columns: dict[str, Callable[[MethodSummary], str]] = {
        "method": lambda one: one.method,
        "plans": lambda one: str(one.problems),
        "best": lambda one: str(one.best),
        "proved": lambda one: str(one.proved),
        "mean ratio": lambda one: "" if one.mean_ratio is None else f"{one.mean_ratio:.4f}",
        "max ratio": lambda one: "" if one.max_ratio is None else f"{one.max_ratio:.4f}",
        "mean gap": lambda one: "" if one.mean_gap is None else f"{100 * one.mean_gap:.2f} %",
        "time": lambda one: f"{one.runtime:.3f} s",
    }
    return Table.of({name: list(map(shown, summaries)) for name, shown in columns.items()})
