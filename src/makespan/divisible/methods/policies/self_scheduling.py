"""Self-scheduling: equal chunks to whoever asks."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible.needs import POLICY
from makespan.divisible.policies import self_scheduling as policy
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import timed


@register(
    "divisible",
    name="self-scheduling",
    needs=POLICY,
    published=True,
    complexity="O(workers) a chunk",
    source="Tang and Yew 1986",
)
def self_scheduling(
    problem: DivisibleLoad, control: Control, *, chunk: float | None = None, ahead: int = 1
) -> Solution:
    """Self-scheduling: equal chunks to whoever asks first.

    The plan is the chunks of a run without errors, each sent as early as the port allows;
    ``simulate(problem, policy="self-scheduling", ...)`` decides anew in every run. ``chunk`` is
    their size (default: a 64th of the load); with ``ahead = 2`` workers ask one chunk ahead.
    """
    plan = policy(problem, chunk=chunk, ahead=ahead).plan()
    return Solution(schedule=timed(problem, plan))
