"""problem → Result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from makespan.core.control import Control, Progress
from makespan.core.errors import InvalidSchedule, MethodError
from makespan.core.kind import Kind
from makespan.core.mistakes import number_fault, shown
from makespan.core.problem import Problem
from makespan.core.registry import Method, applicability, find_method
from makespan.core.result import Result, Solution, Status, relative_gap
from makespan.core.suggest import did_you_mean
from makespan.flow._check import referee
from makespan.flow._kinds import kind_of

if TYPE_CHECKING:
    import numpy as np

AUTO_EXACT_SECONDS = 10.0
BOUND_IS_MET = 1e-9


def solve(
    problem: Problem,
    *,
    method: str = "auto",
    time_limit: float | None = None,
    rng: int | np.random.Generator | None = None,
    progress: Progress | None = None,
    log: bool = False,
    **options: Any,
) -> Result:
    """Plan ``problem`` and return a refereed plan with its proof or its gap.

    Parameters
    ----------
    problem
        A problem of any kind.
    method
        A name from :func:`makespan.methods`; ``"auto"`` tries the applicable methods in turn
        until one proves its plan, and keeps the best.
    time_limit
        Seconds; the best plan found by then is returned with its bound. None: no limit, and 10 s
        for ``"auto"``.
    rng
        A seed or a generator for methods that choose at random; None is seed 0.
    progress
        Called with (incumbent, bound, elapsed seconds).
    log
        Whether ``result.log`` keeps the steps of methods that log them.
    **options
        The options of the method.

    Returns
    -------
    Result
        An infeasible problem gives the status ``infeasible``, not an exception.

    Raises
    ------
    MethodError
        If there is no such method or option, or the method does not apply.

    Ctrl-C in the main thread ends the search early with the best plan found; where there is none
    yet, ``KeyboardInterrupt`` is raised.

    >>> from makespan import DivisibleLoad, Star, Worker
    >>> star = Star([Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)])
    >>> solve(DivisibleLoad(load=10.0, platform=star)).makespan
    28.0
    """
    limit = checked_limit(time_limit)
    control = Control(time_limit=limit, rng=rng, progress=progress, log_steps=log)
    result = solve_controlled(problem, control, method=method, **options)
    if control.interrupted and result.schedule is None:
        raise KeyboardInterrupt
    return result


def solve_controlled(
    problem: Problem, control: Control, *, method: str = "auto", **options: Any
) -> Result:
    """Like :func:`solve`, with a control that the caller keeps."""
    kind = kind_of(problem)
    method, options = _with_file_options(problem, method, options)
    with control.interruptible():
        if method == "auto":
            name, solution, used = _solve_by_line_up(kind, problem, control, options)
        else:
            chosen = find_method(kind.name, method)
            _refuse_unmet(kind, chosen, problem)
            _refuse_unknown_options(chosen, options)
            control.begin(method)
            name, solution = method, chosen.run(problem, control, **options)
            used = options
        return _result(kind, problem, control, name, solution, used)


def refereed(problem: Problem, solution: Solution, method: str) -> Result:
    """Return the result of a plan that was made elsewhere: re-timed, refereed and bounded.

    Raises
    ------
    InvalidSchedule
        If the referee refuses it.
    """
    return _result(kind_of(problem), problem, Control(), method, solution, {})


def _with_file_options(
    problem: Problem, method: str, options: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Merge the options of the problem's file under those of the call."""
    asked = dict(problem.options)
    file_method = asked.pop("method", "auto")
    if method in ("auto", file_method):
        return file_method, {**asked, **options}
    return method, dict(options)


def _solve_by_line_up(
    kind: Kind, problem: Problem, control: Control, options: Mapping[str, Any]
) -> tuple[str, Solution, dict[str, Any]]:
    """Run the kind's line-up until a method proves its plan; return the best."""
    line_up = [find_method(kind.name, name) for name in kind.auto]
    _refuse_unused_options(kind, line_up, options)
    best: tuple[str, Solution, dict[str, Any]] | None = None
    bound: float | None = None
    with control.limited(AUTO_EXACT_SECONDS if control.time_limit is None else None):
        for method in line_up:
            if not applicability(method, problem).applies:
                continue
            if best is not None and control.expired():
                break
            used = {name: options[name] for name in options if name in method.options}
            control.begin(method.name)
            solution = method.run(problem, control, **used)
            if solution.lower_bound is not None:
                bound = max(solution.lower_bound, bound or 0.0)
            if best is None or _is_better(solution, best[1]):
                best = (method.name, solution, used)
                control.incumbent = solution
            if solution.optimal or solution.infeasible or _meets_bound(best[1], bound):
                break
    if best is None:
        raise MethodError(_nothing_applies(kind, problem))
    name, solution, used = best
    return name, _with_bound(solution, bound), used


def _is_better(solution: Solution, incumbent: Solution) -> bool:
    """Whether a later solution replaces the incumbent: proofs of infeasibility and of
    optimality do, and so does a better plan.
    """
    if solution.infeasible is not None:
        return True
    slack = BOUND_IS_MET * abs(incumbent.rank)  # a rank is negative where more is better
    if solution.optimal and solution.rank <= incumbent.rank + slack:
        return True
    return solution.rank < incumbent.rank


def _meets_bound(solution: Solution, bound: float | None) -> bool:
    return (
        bound is not None
        and solution.objective is None
        and solution.makespan <= bound * (1 + 1e-12)
    )


def _with_bound(solution: Solution, bound: float | None) -> Solution:
    from dataclasses import replace

    if bound is None or solution.objective is not None or solution.optimal:
        return solution
    return replace(solution, lower_bound=max(bound, solution.lower_bound or 0.0))


def _result(
    kind: Kind,
    problem: Problem,
    control: Control,
    name: str,
    solution: Solution,
    options: Mapping[str, Any],
) -> Result:
    """Re-time the solution, put it before the referee, and state what is proved."""
    notes = list(solution.notes)
    if solution.infeasible is not None:
        notes.insert(0, solution.infeasible)
    if control.interrupted:
        notes.append("interrupted: the best plan found until then")
    schedule, makespan, bound, gap = solution.schedule, None, None, None
    if schedule is None:
        status = Status.LIMIT if solution.infeasible is None else Status.INFEASIBLE
        bound = solution.lower_bound
    else:
        retimed = kind.retimed(problem, schedule)
        if retimed.makespan <= schedule.makespan:
            schedule = retimed
        makespan = schedule.makespan
        report = referee(kind, problem, schedule)
        if not report.ok:
            raise InvalidSchedule(f"{name} planned an invalid schedule: {report}", report)
        status = Status.OPTIMAL if solution.optimal else Status.FEASIBLE
        if solution.objective is not None:
            gap = 0.0 if solution.optimal else solution.objective.gap
        else:
            bound, met = _best_bound(kind, problem, solution, makespan)
            if met is not None and status is not Status.OPTIMAL:
                status = Status.OPTIMAL
                notes.append(f"optimal: the bound {met!r} is met")
            if status is Status.OPTIMAL:
                bound = makespan
            gap = relative_gap(makespan, bound) if bound is not None else None
    return Result(
        problem=problem,
        status=status,
        schedule=schedule,
        makespan=makespan,
        lower_bound=bound,
        gap=gap,
        method=name,
        options=dict(options),
        seed=control.seed,
        runtime=control.elapsed,
        notes=tuple(notes),
        objective=solution.objective,
        details=dict(solution.details),
        log=control.steps_of(name),
    )


def _best_bound(
    kind: Kind, problem: Problem, solution: Solution, makespan: float
) -> tuple[float | None, str | None]:
    """Return the best lower bound known, and the name of one that the makespan meets."""
    if solution.optimal:
        return makespan, None
    candidates = [(bound.value, bound.name) for bound in kind.bounds(problem)]
    if solution.lower_bound is not None:
        candidates.append((solution.lower_bound, "of the method"))
    if not candidates:
        return None, None
    value, name = max(candidates)
    met = makespan - value <= BOUND_IS_MET * makespan
    return min(value, makespan), name if met else None


def checked_limit(time_limit: float | None) -> float | None:
    """Return the limit, refusing what is no number of seconds."""
    if time_limit is not None:
        fault = number_fault(time_limit, infinite=True)
        if fault is not None:
            raise MethodError(f"time_limit: {shown(time_limit)} {fault}; it is 0 or more seconds")
    return time_limit


def _refuse_unmet(kind: Kind, method: Method, problem: Problem) -> None:
    verdict = applicability(method, problem)
    if not verdict.applies:
        reasons = "; ".join(verdict.reasons)
        raise MethodError(f"{method.name} {reasons}{_methods_that_can(kind, problem)}")


def _methods_that_can(kind: Kind, problem: Problem) -> str:
    from makespan.flow._methods import methods

    able = [verdict.name for verdict in methods(problem) if verdict.applies]
    return f"; methods that can: {', '.join(able)}" if able else "; no method can yet"


def _nothing_applies(kind: Kind, problem: Problem) -> str:
    from makespan.flow._methods import methods

    able = [verdict.name for verdict in methods(problem) if verdict.applies]
    if able:
        return (
            f"'auto' has no method for this {kind.name} problem; "
            f"name one that applies: {', '.join(able)}"
        )
    reasons = "\n".join(f"  {verdict}" for verdict in methods(problem))
    return f"no method applies to this {kind.name} problem:\n{reasons}"


def _refuse_unknown_options(method: Method, options: Mapping[str, Any]) -> None:
    for name in options:
        if name not in method.options:
            known = method.options
            hint = did_you_mean(name, known) if known else "; it has none"
            raise MethodError(f"{method.name} has no option {name!r}{hint}")


def _refuse_unused_options(kind: Kind, line_up: list[Method], options: Mapping[str, Any]) -> None:
    known = {option for method in line_up for option in method.options}
    for name in options:
        if name not in known:
            hint = did_you_mean(name, known)
            raise MethodError(f"no {kind.name} method of 'auto' has an option {name!r}{hint}")
