"""Guided self-scheduling: an equal share of what is left."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible.needs import POLICY
from makespan.divisible.policies import guided as policy
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import timed


@register(
    "divisible",
    name="guided",
    needs=POLICY,
    published=True,
    complexity="O(workers) a chunk",
    source="Polychronopoulos and Kuck 1987",
)
def guided(
    problem: DivisibleLoad, control: Control, *, unit: float | None = None, ahead: int = 1
) -> Solution:
    """Guided self-scheduling: who asks gets a share 1/n of what is left.

    The plan is the chunks of a run without errors, each sent as early as the port allows;
    ``simulate(problem, policy="guided", ...)`` decides anew in every run. Chunks are multiples of
    ``unit`` (default: 1 for whole units, else a thousandth of the load).
    """
    plan = policy(problem, unit=unit, ahead=ahead).plan()
    return Solution(schedule=timed(problem, plan))
