"""What is claimed when a limit cuts a search short, against enumeration."""

from __future__ import annotations

import random

from campaign import cuts
from campaign.oracles import Oracle, module, oracles
from campaign.part import Defect, Part, Skipped, Trial
from campaign.truth import Truth, given_to
from makespan import MethodError, Result, methods
from makespan.core.problem import Problem
from makespan.flow.files.files import as_text

SOLVES = 2
PRICED = 0.6  # of the divisible loads are stars whose workers have prices


def attempt(trial: Trial) -> None:
    """Solve one problem under limits of its own: by ``auto``, and by a method that applies."""
    oracle, problem = given_to(trial) or _drawn(trial.random("make"))
    trial.holds("input.json", as_text(problem, ".json").encode())
    truth = Truth.of(oracle, problem)
    if truth is None:
        trial.count("beyond the oracle")
        return
    trial.count("problems")
    truth.holds_bounds()
    rng = trial.random("solves")
    names = [verdict.name for verdict in methods(problem) if verdict.applies]
    for name in ["auto", *rng.sample(names, min(len(names), SOLVES - 1))]:
        cut = cuts.drawn(rng)
        try:
            result = cut.solve(problem, name)
        except MethodError as error:
            if name == "auto":
                trial.count("no method applies")
                continue
            raise Defect(f"{name} applies, and refuses: {error}") from error
        try:
            truth.holds(name, result)
        except Defect as defect:
            raise Defect(f"{defect} ({cut})") from defect
        _count(trial, name, result)


def _drawn(rng: random.Random) -> tuple[Oracle, Problem]:
    if not oracles():
        raise Skipped("tests/oracles answers for no kind")
    oracle = rng.choice(oracles())
    if oracle.kind == "divisible" and rng.random() < PRICED:
        problem: Problem = module("divisible_priced").priced_problem(rng)
        return oracle, problem
    return oracle, oracle.random_problem(rng)


def _count(trial: Trial, name: str, result: Result) -> None:
    trial.count("solves")
    trial.count(f"{result.status}")
    if result.status in ("feasible", "limit"):
        trial.count("cut short")
    kind = result.problem.kind
    trial.count(f"{kind} · {name} · solved")
    if result.status in ("optimal", "infeasible"):
        trial.count(f"{kind} · {name} · {result.status}")


PART = Part(
    name="claims",
    promise="With a limit of 1 to 100 ms, or cut at any look at the clock: no plan is better than "
    "what enumeration finds, `optimal` and `infeasible` are true, no bound is beyond it; each kind "
    "and objective, open loads with every price, every method.",
    attempt=attempt,
    goals={"problems": 50_000},
    share=1.5,
    patience=60.0,
)
