"""problem → every method side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from makespan.core.control import Control
from makespan.core.errors import MakespanError
from makespan.core.inputs.suggest import suggesting
from makespan.core.problem import Problem
from makespan.core.registry import applicability, find_method
from makespan.core.solution import relative_gap
from makespan.flow.comparison.table import Comparison, Row
from makespan.flow.kinds import kind_of
from makespan.flow.methods import methods as methods_for
from makespan.flow.result import Result
from makespan.flow.solve import GAP_LEFT, checked_limit, solve_controlled

if TYPE_CHECKING:
    import numpy as np

TIE = 1e-9


@suggesting
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
    note = next((note for note in result.notes if not note.startswith(GAP_LEFT)), "")
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
