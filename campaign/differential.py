"""Every method against enumeration, on small problems with all fields of their kind mixed."""

from __future__ import annotations

import json
import random
from functools import cache
from math import inf

from campaign.oracles import NONE_MEANS_TOO_MANY, Oracle, oracles
from campaign.part import Defect, Part, Skipped, Trial
from campaign.planning import DOUBTED
from makespan import MethodError, Result, check, methods, solve
from makespan.core.problem import Problem
from makespan.core.registry import Method, applicability, methods_of
from makespan.flow.files.files import as_text, problem_of
from makespan.flow.kinds import KINDS, kind_of

CLOSE = 1e-9
CLOSE_TO_PROGRAMMES = 3e-6  # mixed-integer programmes prove to 1e-6, oracles are programmes, too
LIMIT = 1.0
PER_METHOD = 2_000
DRAWS = 2_000
ALL = 0.2  # of the problems are solved by every method that applies


def attempt(trial: Trial) -> None:
    """Solve one problem by ``auto`` and the methods that lag behind, or by all that apply."""
    rng = trial.random("make")
    if not oracles():
        raise Skipped("tests/oracles answers for no kind")
    oracle, wanted = _chosen(trial, rng)
    problem = _where_one_applies(oracle, wanted, rng)
    every = rng.random() < ALL
    if trial.given is not None:
        every, problem = True, problem_of(json.loads(trial.given[1]))
        oracle = next(each for each in oracles() if each.kind == problem.kind)
    if not oracle.covers(problem):
        trial.count("beyond the oracle")
        return
    trial.holds("input.json", as_text(problem, ".json").encode())
    value = oracle.best(problem)
    best = None if value is None else float(value)
    if best is None and problem.kind in NONE_MEANS_TOO_MANY:
        trial.count("beyond the oracle")
        return
    if best == inf and problem.kind in NONE_MEANS_TOO_MANY:
        best = None
    trial.count("problems")
    slack = CLOSE_TO_PROGRAMMES if problem.kind == "divisible" else CLOSE
    _held_bounds(problem, best, slack)
    names = [verdict.name for verdict in methods(problem) if verdict.applies]
    behind = [method.name for method in wanted if method.name in names]
    for name in ["auto", *(names if every or not behind else behind)]:
        try:
            result = solve(problem, method=name, time_limit=LIMIT)
        except MethodError as error:
            if name == "auto":
                continue
            raise Defect(f"{name} applies, and refuses: {error}") from error
        if oracle.false_claims is None:
            _held(name, result, best, slack)
        else:
            for claim in oracle.false_claims(problem, result):
                raise Defect(f"{name}: {claim}")
        _count(trial, problem.kind, name, result)


def _chosen(trial: Trial, rng: random.Random) -> tuple[Oracle, list[Method]]:
    """Return an oracle, and the methods of its kind that were not tried often enough.

    Kinds are drawn by how many such methods they have; where all were, each method is wanted.
    """
    short = [pair for pair in _proving() if _counted(*pair) in trial.open] or _proving()
    oracle, _ = rng.choice(short)
    return oracle, [method for other, method in short if other is oracle]


def _counted(oracle: Oracle, method: Method) -> str:
    return f"{oracle.kind} · {method.name} · solved"


@cache
def _proving() -> list[tuple[Oracle, Method]]:
    """Return the methods that prove, each with the oracle of its kind."""
    found = [(oracle, method) for oracle in oracles() for method in methods_of(oracle.kind)]
    return [(oracle, method) for oracle, method in found if method.proves is not None]


def _where_one_applies(oracle: Oracle, wanted: list[Method], rng: random.Random) -> Problem:
    """Return a problem, drawn anew while none of the methods applies: some need what is rare."""
    for _ in range(DRAWS):
        problem = oracle.random_problem(rng)
        if any(applicability(method, problem).applies for method in wanted):
            break
    return problem


def _held_bounds(problem: Problem, best: float | None, slack: float) -> None:
    """Hold the bounds of the kind against the least makespan."""
    if best is None or _other_objective(problem):
        return
    for bound in kind_of(problem).bounds.bounds(problem):
        if not bound.value <= best + slack * abs(best):
            raise Defect(f"the bound {bound.name!r} is {bound.value!r}, above {best!r}")


def _other_objective(problem: Problem) -> bool:
    return getattr(problem, "objective", "makespan") != "makespan" or (
        getattr(problem, "load", 0.0) is None
    )


def _held(name: str, result: Result, best: float | None, slack: float) -> None:
    """Hold a result against the best value that there is.

    Raises
    ------
    Defect
        If a plan beats it, a claim is untrue, or a bound is above it.
    """
    report = check(result)
    if not report.ok:
        raise Defect(f"{name}: {report}")
    for note in result.notes:
        if DOUBTED.search(note):
            raise Defect(f"{name}: {note}")
    if result.status == "infeasible" and best is not None:
        raise Defect(f"{name} says infeasible; {best!r} is there")
    if result.schedule is None:
        return
    if best is None:
        raise Defect(f"{name} has a plan that the referee accepts, but the oracle has none")
    sign = -1.0 if result.objective is not None and result.objective.maximise else 1.0
    value = result.objective.value if result.objective is not None else result.makespan
    bound = result.objective.bound if result.objective is not None else result.lower_bound
    assert value is not None
    room = slack * max(abs(best), abs(value))
    if sign * value < sign * best - room:
        raise Defect(f"{name} reaches {value!r}, better than the best, {best!r}")
    if result.status == "optimal" and sign * value > sign * best + room:
        raise Defect(f"{name} says {value!r} is optimal; {best!r} is there")
    if bound is not None and sign * bound > sign * best + room:
        raise Defect(f"{name} says no plan is better than {bound!r}; {best!r} is there")


def _count(trial: Trial, kind: str, name: str, result: Result) -> None:
    trial.count("solves")
    trial.count(f"{kind} · {name} · solved")
    if result.status in ("optimal", "infeasible"):
        trial.count(f"{kind} · {name} · {result.status}")


def _goals() -> dict[str, int]:
    """Return how often each method that proves must have solved a problem."""
    proving = {
        f"{kind} · {method.name} · solved": PER_METHOD
        for kind in KINDS
        for method in methods_of(kind)
        if method.proves is not None
    }
    return {"solves": 100_000, **proving}


PART = Part(
    name="differential",
    promise="No plan is better than what enumeration finds, `optimal` and `infeasible` are true, "
    "and no bound is above it: each method and each bound, all fields mixed.",
    attempt=attempt,
    goals=_goals(),
    share=3.0,
    patience=60.0,
)
