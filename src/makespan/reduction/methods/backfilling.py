"""Backfilling: whoever can send next does, over the best destinations found."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.reduction.needs import A_REDUCTION, BACKFILLING_ORDER, GIVEN_COUNT, OPEN_PLAN
from makespan.reduction.problem import Reduction
from makespan.reduction.search.destinations import best_destinations

MAX_FREE_SENDS = 5_000


def _too_many(problem: Reduction) -> str | None:
    """Say that there are better methods for many sends in free order."""
    if problem.segments == "auto" or problem.order != "free":
        return None
    sends = (len(problem.machines) - 1) * problem.segments
    return f"there are {sends}" if sends > MAX_FREE_SENDS else None


@register(
    "reduction",
    name="backfilling",
    needs=(
        A_REDUCTION,
        GIVEN_COUNT,
        OPEN_PLAN,
        BACKFILLING_ORDER,
        Need(f"at most {MAX_FREE_SENDS} sends where order = 'free'", _too_many),
    ),
    proves="all destinations, where there are few (order = 'backfilling')",
    complexity="O(n m log(n m)) for each destination matrix tried",
    source="array reduction notebook, last section: the leaves of all segments at each step",
)
def backfilling(problem: Reduction, control: Control, *, tries: int | None = None) -> Solution:
    """Order the sends by backfilling; try all destinations where they are few, else search."""
    return best_destinations(problem, control, "backfilling", tries)
