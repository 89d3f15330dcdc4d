"""Every method by name on one problem: each plans or refuses by its needs, and no two disagree."""

from __future__ import annotations

from collections.abc import Iterable

from campaign.cuts import Cut
from campaign.part import Defect, Trial
from campaign.truth import bound_of, maximised, sound, value_of
from makespan import MethodError, Result, methods
from makespan.core.errors import TooLarge
from makespan.core.problem import Problem
from makespan.core.registry import methods_of

ROOM = 3e-6
"""Relative: what programmes owe to rounding."""


def results_of_all(trial: Trial, problem: Problem, cut: Cut) -> dict[str, Result]:
    """Return what ``auto`` and each method of the kind make of a problem: see `results_of`."""
    names = ["auto", *(method.name for method in methods_of(problem.kind))]
    return results_of(trial, problem, cut, names)


def results_of(trial: Trial, problem: Problem, cut: Cut, names: Iterable[str]) -> dict[str, Result]:
    """Return what some methods make of a problem, each result sound.

    Raises
    ------
    Defect
        If a method that applies refuses, one that does not apply plans, or a result is not sound.
    """
    applies = {verdict.name for verdict in methods(problem) if verdict.applies}
    found = {}
    for name in names:
        try:
            result = cut.solve(problem, name)
        except TooLarge:
            trial.count("too large")
            continue
        except MethodError as error:
            if name in applies:
                raise Defect(f"{name} applies, and refuses: {error}") from error
            trial.count("refusals")
            continue
        if name not in applies and name != "auto":
            raise Defect(f"{name} does not apply, and plans")
        sound(name, result)
        found[name] = result
        trial.count("solves")
        trial.count(f"{result.status}")
    return found


def agree(found: dict[str, Result], planned: dict[str, Result] | None = None) -> None:
    """Hold the claims of each result against the plans of all, or of a problem that is tighter.

    Raises
    ------
    Defect
        If a plan beats a bound or what is claimed optimal, or is there where none should be.
    """
    made = (found if planned is None else planned).items()
    plans = {name: value_of(result) for name, result in made if result.schedule is not None}
    values = {name: value for name, value in plans.items() if value is not None}
    for name, result in found.items():
        sign = -1.0 if maximised(result) else 1.0
        claims = {"no plan is better than": bound_of(result)}
        if result.status == "optimal":
            claims["is optimal with"] = value_of(result)
        for other, value in values.items():
            if result.status == "infeasible":
                raise Defect(f"{name} says infeasible, and {other} plans")
            for says, claim in claims.items():
                if claim is not None and sign * claim > sign * value + ROOM * abs(value):
                    raise Defect(f"{name}: {says} {claim!r}, but {other} reaches {value!r}")
