"""What is true of a small problem, by enumeration, and results that are held against it."""

from __future__ import annotations

import json
from math import inf
from typing import Any, NamedTuple

from campaign.oracles import NONE_MEANS_TOO_MANY, Oracle, oracles
from campaign.part import Defect, Trial
from campaign.planning import DOUBTED
from makespan import Result, check
from makespan.core.problem import Problem
from makespan.flow.files.files import problem_of
from makespan.flow.kinds import kind_of

CLOSE = 1e-9
NOTHING = 1e-6  # smaller values are held to that: 1e-16 of a load is as good as none
CLOSE_TO_PROGRAMMES = 3e-6  # mixed-integer programmes prove to 1e-6, oracles are programmes, too
ONE_VALUE = ("makespan", "price", "total", "energy")
"""Objectives of one value, which the oracles' ``best`` is of."""


class Truth(NamedTuple):
    """A problem, the best value that there is (None where there is no plan), and its oracle."""

    oracle: Oracle
    problem: Problem
    best: float | None

    @classmethod
    def of(cls, oracle: Oracle, problem: Any) -> Truth | None:
        """Return what is true of a problem; None where that is beyond the oracle."""
        if not oracle.covers(problem):
            return None
        value = oracle.best(problem)
        best = None if value is None else float(value)
        if oracle.kind in NONE_MEANS_TOO_MANY:
            if best is None:
                return None
            best = None if best == inf else best
        return cls(oracle, problem, best)

    @property
    def slack(self) -> float:
        return CLOSE_TO_PROGRAMMES if self.oracle.kind == "divisible" else CLOSE

    @property
    def one_value(self) -> bool:
        """Whether the best value is all that the problem asks for."""
        return getattr(self.problem, "objective", "makespan") in ONE_VALUE

    def holds_bounds(self) -> None:
        """Hold the bounds of the kind against the least makespan."""
        other = getattr(self.problem, "objective", "makespan") != "makespan"
        if self.best is None or other or getattr(self.problem, "load", 0.0) is None:
            return
        for bound in kind_of(self.problem).bounds.bounds(self.problem):
            if not bound.value <= self.best + self.slack * abs(self.best):
                raise Defect(f"the bound {bound.name!r} is {bound.value!r}, above {self.best!r}")

    def holds(self, name: str, result: Result) -> None:
        """Hold a result of the method ``name`` against what is true.

        Raises
        ------
        Defect
            If its plan is invalid or better than the best, a claim is untrue, or a bound above it.
        """
        sound(name, result)
        if self.oracle.false_claims is not None:
            for claim in self.oracle.false_claims(self.problem, result):
                raise Defect(f"{name}: {claim}")
        if self.one_value:
            held(name, result, self.best, self.slack)


def sound(name: str, result: Result) -> None:
    """Put a result before the referee, and look for claims that were doubted."""
    report = check(result)
    if not report.ok:
        raise Defect(f"{name}: {report}")
    for note in result.notes:
        if DOUBTED.search(note):
            raise Defect(f"{name}: {note}")


def held(name: str, result: Result, best: float | None, slack: float) -> None:
    """Hold a result against the best value that there is.

    Raises
    ------
    Defect
        If a plan beats it, a claim is untrue, or a bound is above it.
    """
    if result.status == "infeasible" and best is not None:
        raise Defect(f"{name} says infeasible; {best!r} is there")
    if result.schedule is not None and best is None:
        raise Defect(f"{name} has a plan that the referee accepts, but the oracle has none")
    if best is None:
        return
    sign = -1.0 if maximised(result) else 1.0
    value, bound = value_of(result), bound_of(result)
    room = slack * max(abs(best), abs(value or 0.0), NOTHING)
    if value is not None and sign * value < sign * best - room:
        raise Defect(f"{name} reaches {value!r}, better than the best, {best!r}")
    if value is not None and result.status == "optimal" and sign * value > sign * best + room:
        raise Defect(f"{name} says {value!r} is optimal; {best!r} is there")
    if bound is not None and sign * bound > sign * best + room:
        raise Defect(f"{name} says no plan is better than {bound!r}; {best!r} is there")


def maximised(result: Result) -> bool:
    """Whether the most of something is sought."""
    if result.objective is not None:
        return result.objective.maximise
    return getattr(result.problem, "load", 0.0) is None


def value_of(result: Result) -> float | None:
    """Return what a plan reaches of what is sought; None without a plan."""
    return result.makespan if result.objective is None else result.objective.value


def bound_of(result: Result) -> float | None:
    """Return what is said that no plan beats, where it is said of what is sought."""
    if result.objective is not None:
        return result.objective.bound
    makespan = getattr(result.problem, "objective", "makespan") == "makespan"
    return result.lower_bound if makespan and not maximised(result) else None


def given_to(trial: Trial) -> tuple[Oracle, Problem] | None:
    """Return the problem of a kept case and its oracle."""
    if trial.given is None:
        return None
    problem = problem_of(json.loads(trial.given[1]))
    return next(each for each in oracles() if each.kind == problem.kind), problem
