"""problem → every method side by side; several problems, files, folders, too."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import InputError, MethodError
from makespan.core.inputs.files import PathLike
from makespan.core.inputs.rules import quoted
from makespan.core.inputs.suggest import suggesting
from makespan.core.problem import Problem, is_problem
from makespan.core.registry import find_method
from makespan.core.solution import goals_of, precede, relative_gap
from makespan.flow.comparison.several import Comparisons
from makespan.flow.comparison.table import Comparison, Row
from makespan.flow.files.files import read_problem
from makespan.flow.files.reading import problems_in
from makespan.flow.kinds import kind_of, methods as methods_for
from makespan.flow.result import Result
from makespan.flow.solve import attempt, checked_limit

TIE = 1e-9


Named = Mapping[str, Problem | PathLike]


@overload
def compare(
    problem: Problem,
    *,
    methods: str | Sequence[str] | None = None,
    time_limit: float | None = 10,
    rng: int | np.random.Generator | None = None,
    progress: Callable[[str], None] | None = None,
) -> Comparison: ...
@overload
def compare(
    problem: PathLike | Named | Iterable[Problem | PathLike],
    *,
    methods: str | Sequence[str] | None = None,
    time_limit: float | None = 10,
    rng: int | np.random.Generator | None = None,
    progress: Callable[[str], None] | None = None,
) -> Comparisons: ...
@suggesting
def compare(
    problem: Problem | PathLike | Named | Iterable[Problem | PathLike],
    *,
    methods: str | Sequence[str] | None = None,
    time_limit: float | None = 10,
    rng: int | np.random.Generator | None = None,
    progress: Callable[[str], None] | None = None,
) -> Comparison | Comparisons:
    """Solve a problem, or several, by every method that applies, the published ones included.

    Parameters
    ----------
    problem
        A problem of any kind; or several, also by name; or files and folders with such. A folder
        stands for all problem files in it.
    methods
        Names of methods, ``"auto"`` among them; None for all that apply. A method that fails does
        not stop the others: its row says why. Problems of another kind go without it.
    time_limit
        Seconds for each method; None for no limit.
    rng
        A seed or a generator for methods that choose at random; None is seed 0.
    progress
        Called with a line of what is done next.

    Returns
    -------
    Comparison or Comparisons
        Of one problem its comparison; of all else one each, by name, with a summary.

    Raises
    ------
    MethodError
        If there is no method of that name, before anything is solved.
    FileError, ProblemError
        If a file can't be read or holds no problem.

    >>> from makespan import DivisibleLoad, Star, Worker
    >>> star = Star([Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)])
    >>> problem = DivisibleLoad(load=10.0, platform=star)
    >>> [row.method for row in compare(problem, methods=["equal-split", "star"]).rows]
    ['star', 'equal-split']
    >>> compare([problem, problem], methods="star")
    <Comparisons: 2 problems, 1 method, most often best star>
    """
    if is_problem(problem):
        ((_, found),) = comparing({"": problem}, methods, time_limit, rng, progress)
        return found
    named, left_out = problems_named(problem)  # type: ignore[arg-type]
    several = dict(comparing(named, methods, time_limit, rng, progress))
    return Comparisons(by_name=several, left_out=left_out)


def problems_named(
    given: PathLike | Named | Iterable[Problem | PathLike], parts: Mapping[str, Any] | None = None
) -> tuple[dict[str, Problem], tuple[str, ...]]:
    """Return problems by their names, and a line for each file of a folder that holds none.

    ``parts`` of problems are given to all files, see ``read_problem``.
    """
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    elif not isinstance(given, Iterable):
        raise InputError(f"{quoted(given)} is neither a problem nor several")
    entries = given.items() if isinstance(given, Mapping) else [(None, each) for each in given]
    problems: dict[str, Problem] = {}
    others: tuple[str, ...] = ()
    for number, (name, each) in enumerate(entries, 1):
        if is_problem(each):
            own = {name or f"problem {number}": each}
        elif not isinstance(each, (str, os.PathLike)):
            raise InputError(f"{quoted(each)} is neither a problem nor a path")
        elif Path(each).is_dir():
            own, more = problems_in(each, parts or {})
            others += more
        else:
            own = {name or os.fspath(each): read_problem(each, **(parts or {}))}
        for title, problem in own.items():
            problems[title if title not in problems else f"{title} ({number})"] = problem
    return problems, others


def comparing(
    problems: Mapping[str, Problem],
    methods: str | Sequence[str] | None,
    time_limit: float | None,
    rng: int | np.random.Generator | None,
    progress: Callable[[str], None] | None,
    make: Callable[..., Control] = Control,
) -> Iterator[tuple[str, Comparison]]:
    """Yield the comparison on each problem when it is there; an interrupted one is the last.

    ``make`` gives the control of each solve.
    """
    limit = checked_limit(time_limit)
    chosen = None if methods is None else _kinds_of(methods, problems.values())
    for name, problem in problems.items():
        kind = kind_of(problem).name
        if chosen is None:
            names = [verdict.name for verdict in methods_for(problem) if verdict.applies]
        else:
            names = [method for method, kinds in chosen.items() if kind in kinds]

        def tell(place: str, name: str = name) -> None:
            if progress is not None:
                progress(f"{name}: {place}" if name else place)

        comparison = _compared(problem, names, limit, rng, tell, make)
        yield name, comparison
        if comparison.interrupted:
            return


def _kinds_of(methods: str | Sequence[str], problems: Iterable[Problem]) -> dict[str, set[str]]:
    """Return the names of methods, each with the kinds of the problems that have it."""
    kinds = dict.fromkeys(kind_of(problem).name for problem in problems)
    names = dict.fromkeys([methods] if isinstance(methods, str) else methods)
    found = {name: set(kinds) if name == "auto" else set() for name in names}
    for name, own in found.items():
        errors = []
        for kind in () if own else kinds:
            try:
                find_method(kind, name)
                own.add(kind)
            except MethodError as error:
                errors.append(error)
        if not own and errors:
            raise errors[0]
    return found


def _compared(
    problem: Problem,
    names: Sequence[str],
    limit: float | None,
    rng: int | np.random.Generator | None,
    tell: Callable[[str], None],
    make: Callable[..., Control],
) -> Comparison:
    results: dict[str, Result] = {}
    rows: list[Row] = []
    notes: dict[str, str] = {}
    interrupted = False
    for number, name in enumerate(names, 1):
        tell(f"{name} ({number} of {len(names)})")
        tried = attempt(problem, name, time_limit=limit, rng=rng, make=make)
        if tried.result is None:
            rows.append(Row(method=name, status="failed", note=tried.note))
        else:
            results[name], notes[name] = tried.result, tried.note
        if tried.interrupted:
            interrupted = True
            break
    bounds = [r.lower_bound for r in results.values() if r.lower_bound is not None]
    bound = max(bounds, default=None)
    return Comparison(
        problem=problem,
        rows=(*_ranked(results, notes, bound), *rows),
        results=results,
        lower_bound=bound,
        interrupted=interrupted,
    )


def _ranked(results: dict[str, Result], notes: Mapping[str, str], bound: float | None) -> list[Row]:
    """Return the rows of the results, the best first."""
    ranked = sorted(results, key=lambda name: (_goals(results[name]), name))
    best = _goals(results[ranked[0]]) if ranked else ()
    return [
        _row(
            *(name, results[name], notes[name], bound),
            best=not precede(best, _goals(results[name]), TIE),
        )
        for name in ranked
    ]


def _goals(result: Result) -> tuple[float, ...]:
    return goals_of(result.schedule, result.objective)


def _row(name: str, result: Result, note: str, bound: float | None, *, best: bool) -> Row:
    value, gap = result.makespan, result.gap
    if result.objective is not None:
        value = result.objective.value
    elif value is not None and bound is not None:
        gap = relative_gap(value, min(bound, value))
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
