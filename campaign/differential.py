"""Every method against enumeration, on small problems with all fields of their kind mixed."""

from __future__ import annotations

import random
from functools import cache

from campaign.oracles import Oracle, oracles
from campaign.part import Defect, Part, Skipped, Trial
from campaign.truth import Truth, given_to
from makespan import MethodError, Result, methods, solve
from makespan.core.problem import Problem
from makespan.core.registry import Method, applicability, methods_of
from makespan.flow.files.files import as_text
from makespan.flow.kinds import KINDS

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
    given = given_to(trial)
    if given is not None:
        every, (oracle, problem) = True, given
    trial.holds("input.json", as_text(problem, ".json").encode())
    truth = Truth.of(oracle, problem)
    if truth is None:
        trial.count("beyond the oracle")
        return
    trial.count("problems")
    truth.holds_bounds()
    names = [verdict.name for verdict in methods(problem) if verdict.applies]
    behind = [method.name for method in wanted if method.name in names]
    for name in ["auto", *(names if every or not behind else behind)]:
        try:
            result = solve(problem, method=name, time_limit=LIMIT)
        except MethodError as error:
            if name == "auto":
                continue
            raise Defect(f"{name} applies, and refuses: {error}") from error
        truth.holds(name, result)
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
