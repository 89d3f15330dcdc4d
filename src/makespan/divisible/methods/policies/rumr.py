"""Robust uniform multi-round: growing rounds, then factoring."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.errors import MethodError
from makespan.core.inputs.mistakes import refusal
from makespan.core.inputs.rules import Rule
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible.methods.rounds.umr import UNIFORM
from makespan.divisible.needs import OPEN_ROUNDS
from makespan.divisible.policies import rumr as policy
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import timed


@register(
    "divisible",
    name="rumr",
    needs=(*UNIFORM, OPEN_ROUNDS),
    published=True,
    complexity="O(rounds tried^2), then O(workers) a chunk",
    source="Yang and Casanova 2003 (RUMR)",
)
def rumr(
    problem: DivisibleLoad,
    control: Control,
    *,
    error: float = 0.0,
    unit: float | None = None,
    ahead: int = 1,
) -> Solution:
    """Robust uniform multi-round (RUMR): growing rounds, then decreasing chunks by factoring.

    ``error`` is the relative error that is expected of predictions: that share of the load is
    kept for the second phase. ``simulate(problem, policy="rumr", ...)`` expects the error that it
    simulates, and decides the second phase anew in every run.
    """
    text = refusal(error, Rule("an expected error is 0 or more"))
    if text is not None:
        raise MethodError(f"error: {text}")
    plan = policy(problem, error=error, unit=unit, ahead=ahead).plan()
    return Solution(schedule=timed(problem, plan))
