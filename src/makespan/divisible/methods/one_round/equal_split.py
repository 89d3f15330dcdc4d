"""The same load for every machine, as people do without a plan."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible.needs import SPLIT_ONE_ROUND
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
    assert problem.load is not None
    workers = len(problem.star)
    with_master = problem.master_computes
    if workers + with_master == 0:
        return Solution(schedule=None, infeasible="there is no machine to compute the load")
    share = problem.load / (workers + with_master)
    plan = one_round(problem, np.full(workers, share), share if with_master else 0.0)
    return logged(problem, control, plan, problem.star.send_per_unit, "send cost")
