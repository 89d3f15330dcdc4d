"""Methods side by side: a row each, as data and as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from makespan.core.problem import Problem
from makespan.drawing.text import shortened
from makespan.flow.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        Why it failed, or the first note of its result.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
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
        return "\n".join(_table(self))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a bar for each method with matplotlib, and a line at the bound."""
        from makespan.flow.comparison.pictures import plot_comparison

        return plot_comparison(self, ax)

    def as_dict(self) -> dict[str, Any]:
        """Return the rows as they stand in JSON."""
        names = ("method", "status", "value", "makespan", "gap", "runtime", "best", "note")
        return {
            "kind": self.problem.kind,
            "lower_bound": self.lower_bound,
            "rows": [{name: getattr(row, name) for name in names} for row in self.rows],
        }


def _table(comparison: Comparison) -> list[str]:
    cells = [("", "method", "status", comparison.objective, "gap", "time", "note")]
    for row in comparison.rows:
        cells.append(
            (
                "*" if row.best else "",
                row.method,
                row.status,
                "" if row.value is None else f"{row.value:.8g}",
                "" if row.gap is None else f"{100 * row.gap:.2f} %",
                "" if row.runtime is None else f"{row.runtime:.3f} s",
                shortened(row.note),
            )
        )
    widths = [max(len(line[column]) for line in cells) for column in range(6)]
    lines = []
    for line in cells:
        texts = [
            text.ljust(width) if column < 3 else text.rjust(width)
            for column, (text, width) in enumerate(zip(line[:6], widths, strict=True))
        ]
        lines.append("  ".join([*texts, line[6]]).rstrip())
    if comparison.lower_bound is not None:
        lines.append(f"lower bound {comparison.lower_bound:.8g}")
    return lines
