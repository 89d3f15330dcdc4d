"""Loads in proportion to the speeds, as people do who measured them."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible.needs import FINITE_SPEED, SPLIT_ONE_ROUND
from makespan.divisible.one_round.split import one_round
from makespan.divisible.one_round.steps import logged
from makespan.divisible.problem import DivisibleLoad


@register(
    "divisible",
    name="proportional-split",
    needs=(*SPLIT_ONE_ROUND, FINITE_SPEED),
    published=True,
    complexity="O(n log n)",
    source="common practice",
)
def proportional_split(problem: DivisibleLoad, control: Control) -> Solution:
    """Loads in proportion to the computing speeds; workers by non-decreasing send cost."""
    assert problem.load is not None
    speed = 1.0 / problem.star.compute_per_unit
    own = 0.0
    if problem.master_computes:
        own = 1.0 / problem.star.master_cost.per_unit
    total = float(speed.sum()) + own
    if total == 0.0:
        return Solution(schedule=None, infeasible="there is no machine to compute the load")
    speed *= problem.load / total
    plan = one_round(problem, speed, own / total * problem.load)
    return logged(problem, control, plan, problem.star.send_per_unit, "send cost")
