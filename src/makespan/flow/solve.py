"""problem → Result; problem → the best lower bound; plan → whether a bound proves it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from makespan.core.control import Control, Progress
from makespan.core.errors import InputError, MakespanError, MethodError, TooLarge
from makespan.core.inputs.rules import Rule, refusal
from makespan.core.inputs.suggest import did_you_mean, keywords_of, suggesting
from makespan.core.kind import Kind
from makespan.core.numeric import first_use
from makespan.core.problem import Problem
from makespan.core.registry import Method, applicability, find_method
from makespan.core.report import InvalidSchedule
from makespan.core.solution import Bound, Solution, Status, relative_gap, whole_grains
from makespan.flow.auto import EXACT_SECONDS, Found, greatest_bound, line_up, run_auto, run_method
from makespan.flow.check import referee
from makespan.flow.kinds import kind_of, methods
from makespan.flow.result import Result

CONTRADICTED = 1e-6  # relative: a bound this far above a plan is wrong, not rounded


@suggesting
def lower_bound(problem: Problem) -> Bound:
    """Return the greatest known lower bound on the makespan, with its name and source.

    Raises
    ------
    InputError
        If none is known: a load without an amount, to be made as large as a deadline allows.

    >>> from makespan import IndependentTasks
    >>> lower_bound(IndependentTasks(machines=2, durations=[3, 3, 3])).value
    6.0
    """
    kind = kind_of(problem)
    bounds = kind.bounds.bounds(problem)
    if not bounds:
        raise InputError(
            f"no bound on the makespan is known for this {kind.name} problem; "
            "the result of solve says what bounds its objective"
        )
    best = max(bounds, key=lambda bound: bound.value)
    return replace(best, value=whole_grains(best.value, kind.grain(problem)))


OF_METHOD = "of the method"
MET = {OF_METHOD: "the method's own lower bound", "refuted": "every earlier end was refuted"}
"""Why a plan is optimal that meets a bound of this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The best lower bound known, whether the plan meets it, and what there is to say."""

    value: float | None
    met: bool = False
    notes: tuple[str, ...] = ()


def best_bound(kind: Kind, problem: Problem, solution: Solution, makespan: float) -> Proof:
    """Return the best lower bound on a refereed plan; one above the plan is not believed."""
    candidates = [(bound.value, bound.name) for bound in kind.bounds.bounds(problem)]
    if solution.lower_bound is not None:
        candidates.append((solution.lower_bound, OF_METHOD))
    grain = kind.grain(problem)
    candidates = [(whole_grains(value, grain), name) for value, name in candidates]
    limit = makespan * (1 + CONTRADICTED)
    doubts = [
        f"the bound {value!r} ({name}) is above the plan: not believed"
        for value, name in candidates
        if value > limit
    ]
    sound = [(value, name) for value, name in candidates if value <= limit]
    if not sound:
        return Proof(value=None, notes=tuple(doubts))
    value, name = max(sound)
    if makespan - value <= kind.met_within * makespan:
        why = MET.get(name, f"lower bound: {name}")
        note = f"optimal: no plan ends earlier ({why})"
        return Proof(value=makespan, met=True, notes=(*doubts, note))
    return Proof(value=value, notes=tuple(doubts))


GAP_LEFT = "gap left: "  # how a note begins that says why
UNCOMPILED = (
    "loops of this plan ran uncompiled, so the search found less in its time: "
    "their kernels are not on disk yet"
)
INTERNAL = ("tries",)  # options of single methods that no message lists: budgets of searches
INTERRUPTED = "interrupted: this is the best plan found so far"
INSTEAD = ("optimal for ", "planned for ")  # and one that says what else could be asked for


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

    Ctrl-C in the main thread ends the search early with the best plan found, whose first note then
    begins with ``interrupted``; where there is none yet, ``KeyboardInterrupt`` is raised.

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
    _refuse_late(kind.minimum_seconds(problem), control.time_limit)
    limit = EXACT_SECONDS if control.time_limit is None and method == "auto" else control.time_limit
    job = (problem, method, options, limit)
    control.line_up = partial(line_up, kind, control)
    with control.interruptible(), first_use.limited(limit, lambda: job) as compiling:
        try:
            with control.reserving(kind.postprocessing_seconds(problem)):
                if method == "auto":
                    if options:
                        lacks = f"no {kind.name} method of 'auto' has an option"
                        _refuse_unknown(options, _options_of_auto(kind), lacks)
                    found = run_auto(kind, problem, control, options)
                    found.advised = True
                else:
                    chosen = find_method(kind.name, method)
                    _refuse_unmet(kind, chosen, problem)
                    _refuse_unknown(options, chosen.options, f"{chosen.name} has no option")
                    floor = greatest_bound(kind, problem)
                    found = run_method(kind, problem, control, chosen, options, floor)
        except MemoryError as error:
            raise TooLarge(f"{method}: there is not enough memory for this problem") from error
        if compiling.missed:
            found.notes.append(UNCOMPILED)
        return _result(kind, problem, control, found)


def refereed(problem: Problem, solution: Solution, method: str) -> Result:
    """Return the result of a plan made elsewhere, or raise InvalidSchedule if it is refused."""
    found = Found(method=method, solution=solution, options={})
    return _result(kind_of(problem), problem, Control(), found)


def _with_file_options(
    problem: Problem, method: str, options: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Merge the options of the problem's file under those of the call."""
    asked = dict(problem.options)
    file_method = asked.pop("method", "auto")
    if method in ("auto", file_method):
        return file_method, {**asked, **options}
    return method, dict(options)


def _result(kind: Kind, problem: Problem, control: Control, found: Found) -> Result:
    """Re-time the solution, put it before the referee, and state what is proved."""
    solution = found.solution
    notes = [*getattr(problem, "notes", ()), *solution.notes, *found.notes]
    later: list[str] = []
    if solution.infeasible is not None:
        notes.insert(0, solution.infeasible)
    if control.interrupted:
        notes.insert(0, INTERRUPTED)
    schedule, makespan, bound, gap = solution.schedule, None, None, None
    if schedule is None:
        status = Status.LIMIT if solution.infeasible is None else Status.INFEASIBLE
        bound = solution.lower_bound
    else:
        if not schedule.earliest:
            retimed = kind.timing.retimed(problem, schedule)
            schedule = retimed if retimed.makespan <= schedule.makespan else schedule
        makespan = schedule.makespan
        report = referee(kind, problem, schedule)
        if not report.ok:
            message = f"{found.method} planned an invalid schedule: {report}"
            raise InvalidSchedule(message, report, planned=True)
        status = Status.OPTIMAL if solution.optimal else Status.FEASIBLE
        if solution.objective is not None:
            gap = 0.0 if solution.optimal else solution.objective.gap
        else:
            if status is not Status.OPTIMAL:
                proof = best_bound(kind, problem, solution, makespan)
                bound, more = proof.value, proof.notes
                later += more
                status = Status.OPTIMAL if proof.met else status
            if status is Status.OPTIMAL:
                bound = makespan
            gap = relative_gap(makespan, bound) if bound is not None else None
        if status is Status.FEASIBLE and gap:
            later.append(_why_a_gap(found, control.expired()))
    if status is Status.OPTIMAL and UNCOMPILED in notes:
        notes.remove(UNCOMPILED)  # no search could have found more
    steps = control.steps_of(found.method)
    return Result(
        problem=problem,
        status=status,
        schedule=schedule,
        makespan=makespan,
        lower_bound=bound,
        gap=gap,
        method=found.method,
        options=dict(found.options),
        seed=control.seed,
        runtime=control.elapsed,
        notes=_with_advice(kind, problem, found, notes, later, status is Status.OPTIMAL),
        objective=solution.objective,
        details=dict(solution.details),
        log=tuple(step.text for step in steps),
        steps=steps,
    )


def _with_advice(
    kind: Kind,
    problem: Problem,
    found: Found,
    notes: Sequence[str],
    later: Sequence[str],
    optimal: bool,
) -> Any:
    """Return the notes of a plan; of one that ``auto`` made short, what says them with advice."""
    schedule = found.solution.schedule
    if not found.advised or schedule is None or found.solution.objective is not None:
        return (*notes, *later)

    def advised() -> tuple[str, ...]:
        advice = [INSTEAD[not optimal] + each for each in kind.advice(problem, schedule)]
        return (*notes, *advice, *later)

    return advised


def _why_a_gap(found: Found, late: bool) -> str:
    if found.ended and (late or found.advised):
        return f"{GAP_LEFT}the search stopped at its limit; more time may find or prove more"
    if found.advised:
        return f"{GAP_LEFT}all methods have finished, and none could prove the plan optimal"
    how = "has not tried all; more time, or" if found.ended else "has finished;"
    return f"{GAP_LEFT}{found.method} {how} method = 'auto' may find or prove more"


def checked_limit(time_limit: float | None) -> float | None:
    """Return the limit, refusing what is not a number of seconds."""
    if time_limit is not None:
        text = refusal(time_limit, Rule("it is 0 or more seconds", infinite=True))
        if text is not None:
            raise MethodError(f"time_limit: {text}")
    return time_limit


def _refuse_late(least: float, limit: float | None) -> None:
    """Refuse what can't be done in the time that a limit stands for, before it is begun."""
    if limit is not None and least > 1.2 * limit + 0.5:
        raise TooLarge(
            f"time_limit: {limit:g} s is too short for a problem of this size: its quickest plan "
            f"takes about {least:.2g} s with its check; a limit of {math.ceil(least)} s would do, "
            "or none"
        )


def _refuse_unmet(kind: Kind, method: Method, problem: Problem) -> None:
    verdict = applicability(method, problem)
    if not verdict.applies:
        reasons = "; ".join(verdict.reasons)
        raise MethodError(f"{method.name} {reasons}{_methods_that_can(kind, problem)}")


def _methods_that_can(kind: Kind, problem: Problem) -> str:
    able = [verdict.name for verdict in methods(problem) if verdict.applies]
    return f"; methods that can: {', '.join(able)}" if able else "; no method can yet"


def _options_of_auto(kind: Kind) -> set[str]:
    return {option for name in kind.methods.AUTO for option in find_method(kind.name, name).options}


def _refuse_unknown(options: Mapping[str, Any], known: Collection[str], lacks: str) -> None:
    """Refuse an option that is not known, by the nearest of all that ``solve`` takes."""
    for name in options:
        if name not in known:
            own = {*keywords_of(solve), *INTERNAL} - {"problem"}
            hint = did_you_mean(name, {*known, *own}, unlisted=own)
            raise MethodError(f"{lacks} {name!r}{hint}")


class Attempt(NamedTuple):
    """What one solve brought.

    ``status`` is that of the result; where there is none, ``refused`` (the method does not apply),
    ``too large`` or ``failed``, and ``note`` says why. ``seconds`` leave out start-up.
    """

    result: Result | None
    status: str
    note: str
    seconds: float
    interrupted: bool


def attempt(
    problem: Problem,
    method: str,
    *,
    time_limit: float | None,
    rng: int | np.random.Generator | None,
    options: Mapping[str, Any] | None = None,
    make: Callable[..., Control] = Control,
) -> Attempt:
    """Solve a problem by a method, with a control by ``make``; what goes wrong is only told."""
    control = make(time_limit=time_limit, rng=rng)
    result = None
    try:
        result = solve_controlled(problem, control, method=method, **(options or {}))
        status, note = str(result.status), _note(result, method)
    except TooLarge as error:
        status, note = "too large", str(error)
    except MethodError as error:
        status, note = "refused", str(error)
    except MakespanError as error:
        status, note = "failed", str(error)
    except Exception as error:
        status, note = "failed", f"internal error: {type(error).__name__}: {error}"
    return Attempt(result, status, note, control.elapsed, control.interrupted)


def _note(result: Result, method: str) -> str:
    """Return the first note that says more than why a gap is left, or what to ask for instead,
    after who found the plan.
    """
    note = next((note for note in result.notes if not note.startswith((GAP_LEFT, *INSTEAD))), "")
    if result.method != method:
        note = f"by {result.method}" + (f"; {note}" if note else "")
    return note
