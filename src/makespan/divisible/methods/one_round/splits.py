"""Loads as people split them without a plan: equally, or by the speeds that they measured."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible.needs import FINITE_SPEED, SPLIT_ONE_ROUND
from makespan.divisible.one_round.split import one_round
from makespan.divisible.one_round.steps import logged
from makespan.divisible.problem import DivisibleLoad


@register(
    "divisible",
    name="equal-split",
    needs=SPLIT_ONE_ROUND,
    published=True,
    complexity="O(n log n)",
    source="common practice",
)
def equal_split(problem: DivisibleLoad, control: Control) -> Solution:
    """The same load for every machine that computes; workers by non-decreasing send cost."""
    return _in_proportion(problem, control, np.ones(len(problem.star)), 1.0)


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
    own = 1.0 / problem.star.master_cost.per_unit if problem.master_computes else 0.0
    return _in_proportion(problem, control, 1.0 / problem.star.compute_per_unit, own)


def _in_proportion(problem: DivisibleLoad, control: Control, speed: Floats, own: float) -> Solution:
    """Return the plan of loads in proportion to these speeds, ``own`` that of the master."""
    assert problem.load is not None
    own = own if problem.master_computes else 0.0
    total = float(speed.sum()) + own
    if total == 0.0:
        return Solution(schedule=None, infeasible="there is no machine to compute the load")
    plan = one_round(problem, speed * (problem.load / total), own / total * problem.load)
    return logged(problem, control, plan, problem.star.send_per_unit, "send cost")
