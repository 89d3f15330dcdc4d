"""The empty plan of a load of nothing."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.divisible.model.plan import Plan
from makespan.divisible.needs import A_MASTER, A_STAR, ANY_WORKERS, NO_GIVEN_SEQUENCE
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import timed


@register(
    "divisible",
    name="no-load",
    needs=(
        A_STAR,
        A_MASTER,
        ANY_WORKERS,
        NO_GIVEN_SEQUENCE,
        Need("no load", lambda problem: None if problem.load == 0 else "there is a load"),
    ),
    proves="no plan ends before it starts",
    complexity="O(1)",
    source="definition",
)
def no_load(problem: DivisibleLoad, control: Control) -> Solution:
    """The empty plan, for a load of nothing."""
    return Solution(schedule=timed(problem, Plan.of([], [])), optimal=True)
