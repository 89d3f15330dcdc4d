"""Methods side by side: a row each, as data and as text."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from makespan.core.display import Displayable, Exportable, HasFrame, Table, as_csv, counted
from makespan.core.problem import Problem
from makespan.core.renderers import renderers
from makespan.drawing.text import shortened
from makespan.flow.result import Result
from makespan.flow.serialize import as_json

if TYPE_CHECKING:
    from matplotlib.axes import Axes


FORMAT = "makespan.comparison/1"
COLUMNS = ("method", "status", "value", "makespan", "gap", "runtime", "best", "note")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How one method did.

    Parameters
    ----------
    method
        Its name.
    status
        The status of its result; ``"failed"`` where there is none, and ``note`` says why.
    value
        What was reached: the makespan in seconds, or the objective where that is another.
    makespan
        The end of its schedule, seconds.
    gap
        The distance of its value to the best bound that any of the methods proved.
    runtime
        Seconds.
    note
        Why it failed, or the first note of its result that says more than why a gap is left.
    best
        Whether no other method did better (to within 1e-9).
    """

    method: str
    status: str
    value: float | None = None
    makespan: float | None = None
    gap: float | None = None
    runtime: float | None = None
    note: str = ""
    best: bool = False


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
        return f"{_table(self)}{bound}"

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
    """Return the rows as people read them."""
    rows = comparison.rows
    return Table.of(
        {
            "": ["*" if row.best else "" for row in rows],
            "method": [row.method for row in rows],
            "status": [row.status for row in rows],
            comparison.objective: ["" if row.value is None else f"{row.value:.8g}" for row in rows],
            "gap": ["" if row.gap is None else f"{100 * row.gap:.2f} %" for row in rows],
            "time": ["" if row.runtime is None else f"{row.runtime:.3f} s" for row in rows],
            "note": [shortened(row.note) for row in rows],
        }
    )
