"""problem → every method side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from makespan.core.control import Control
from makespan.core.errors import MakespanError
from makespan.core.problem import Problem
from makespan.core.registry import applicability, find_method
from makespan.core.result import Result, relative_gap
from makespan.flow._kinds import kind_of
from makespan.flow._methods import methods as methods_for
from makespan.flow._solve import checked_limit, solve_controlled

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes

TIE = 1e-9
LONGEST_NOTE = 90


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

    def __str__(self) -> str:
        return "\n".join(_table(self))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a bar for each method with matplotlib, and a line at the bound."""
        from makespan.flow._ranking import plot_comparison

        return plot_comparison(self, ax)

    def as_dict(self) -> dict[str, Any]:
        """Return the rows as they stand in JSON."""
        names = ("method", "status", "value", "makespan", "gap", "runtime", "best", "note")
        return {
            "kind": self.problem.kind,
            "lower_bound": self.lower_bound,
            "rows": [{name: getattr(row, name) for name in names} for row in self.rows],
        }


def compare(
    problem: Problem,
    *,
    methods: Sequence[str] | None = None,
    time_limit: float | None = 10,
    rng: int | np.random.Generator | None = None,
) -> Comparison:
    """Solve ``problem`` by every method that applies, the published ones included.

    Parameters
    ----------
    problem
        A problem of any kind.
    methods
        Names of methods, ``"auto"`` among them; None for all that apply. A method that fails does
        not stop the others: its row says why.
    time_limit
        Seconds for each method; None for no limit.
    rng
        A seed or a generator for methods that choose at random; None is seed 0.

    Raises
    ------
    MethodError
        If there is no method of that name.

    >>> from makespan import DivisibleLoad, Star, Worker
    >>> star = Star([Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)])
    >>> problem = DivisibleLoad(load=10.0, platform=star)
    >>> [row.method for row in compare(problem, methods=["equal-split", "star"]).rows]
    ['star', 'equal-split']
    """
    kind = kind_of(problem)
    limit = checked_limit(time_limit)
    if methods is None:
        names = [verdict.name for verdict in methods_for(problem) if verdict.applies]
    else:
        names = list(dict.fromkeys(methods))
        for name in names:
            if name != "auto":
                applicability(find_method(kind.name, name), problem)
    results: dict[str, Result] = {}
    rows: list[Row] = []
    interrupted = False
    for name in names:
        control = Control(time_limit=limit, rng=rng)
        try:
            results[name] = solve_controlled(problem, control, method=name)
        except MakespanError as error:
            rows.append(Row(method=name, status="failed", note=str(error)))
        except Exception as error:
            note = f"internal error: {type(error).__name__}: {error}"
            rows.append(Row(method=name, status="failed", note=note))
        if control.interrupted:
            interrupted = True
            break
    bounds = [r.lower_bound for r in results.values() if r.lower_bound is not None]
    bound = max(bounds, default=None)
    return Comparison(
        problem=problem,
        rows=(*_ranked(results, bound), *rows),
        results=results,
        lower_bound=bound,
        interrupted=interrupted,
    )


def _ranked(results: dict[str, Result], bound: float | None) -> list[Row]:
    """Return the rows of the results, the best first."""
    ranked = sorted(results, key=lambda name: (_rank(results[name]), name))
    best = _rank(results[ranked[0]]) if ranked else float("inf")
    return [
        _row(name, results[name], bound, best=_rank(results[name]) <= best + TIE * abs(best))
        for name in ranked
    ]


def _rank(result: Result) -> float:
    """Return what results of one problem are compared by: less is better."""
    objective = result.objective
    if result.schedule is None or result.makespan is None:
        return float("inf")
    if objective is None:
        return result.makespan
    return -objective.value if objective.maximise else objective.value


def _row(name: str, result: Result, bound: float | None, *, best: bool) -> Row:
    value, gap = result.makespan, result.gap
    if result.objective is not None:
        value = result.objective.value
    elif value is not None and bound is not None:
        gap = relative_gap(value, min(bound, value))
    note = result.notes[0] if result.notes else ""
    if result.method != name:
        note = f"by {result.method}" + (f"; {note}" if note else "")
    return Row(
        method=name,
        status=str(result.status),
        value=value,
        makespan=result.makespan,
        gap=gap,
        runtime=result.runtime,
        note=note,
        best=best and result.schedule is not None,
    )


def shortened(note: str) -> str:
    """Return a note as it stands in the table: in one line, of bounded length.

    >>> shortened("needs an order,   but it is not given")
    'needs an order, but it is not given'
    """
    text = " ".join(note.split())
    return text if len(text) <= LONGEST_NOTE else f"{text[: LONGEST_NOTE - 1]}…"


def objective_of(comparison: Comparison) -> str:
    """Return the name of what the methods are compared by."""
    results = comparison.results.values()
    objectives = {result.objective.name for result in results if result.objective is not None}
    return objectives.pop() if len(objectives) == 1 else "makespan"


def _table(comparison: Comparison) -> list[str]:
    cells = [("", "method", "status", objective_of(comparison), "gap", "time", "note")]
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
