"""Factoring: half of what is left in batches of equal chunks."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible.needs import POLICY
from makespan.divisible.policies import factoring as policy
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import timed


@register(
    "divisible",
    name="factoring",
    needs=POLICY,
    published=True,
    complexity="O(workers) a chunk",
    source="Flynn Hummel, Schonberg and Flynn 1992",
)
def factoring(
    problem: DivisibleLoad, control: Control, *, unit: float | None = None, ahead: int = 1
) -> Solution:
    """Factoring: batches of n equal chunks, half of what is left each.

    The plan is the chunks of a run without errors, each sent as early as the port allows;
    ``simulate(problem, policy="factoring", ...)`` decides anew in every run. Chunks are multiples
    of ``unit`` (default: 1 for whole units, else a thousandth of the load).
    """
    plan = policy(problem, unit=unit, ahead=ahead).plan()
    return Solution(schedule=timed(problem, plan))
