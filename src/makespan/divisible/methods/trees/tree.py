"""Equivalent processors, bottom up: the optimum of a linear tree."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.divisible.model.tree import Tree
from makespan.divisible.needs import A_TREE, nonzero
from makespan.divisible.one_round.linear import of_open_load, with_deadline
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing.trees import timed_tree
from makespan.divisible.trees.equivalent import equivalent_tree


@register(
    "divisible",
    name="tree",
    needs=(A_TREE, Need("no fixed costs", nonzero("send_fixed", "compute_fixed"))),
    proves="a subtree acts as one processor; children by non-decreasing link cost finish together",
    complexity="O(n log n)",
    source="Cheng and Robertazzi 1990; Benoit 2016, theorem",
)
def tree(problem: DivisibleLoad, control: Control) -> Solution:
    """Equivalent processors bottom up; children by non-decreasing link cost, all end together."""
    platform = problem.platform
    assert isinstance(platform, Tree)
    rate, share = equivalent_tree(platform)
    if rate == 0.0 and problem.load:
        return Solution(schedule=None, infeasible="there is no machine to compute the load")
    if problem.load is None:
        assert problem.deadline is not None
        load = problem.deadline * rate
        if not np.isfinite(load):
            return Solution(schedule=None, notes=("the load by the deadline has no maximum",))
    else:
        load = problem.load
    schedule = timed_tree(problem, share * load)
    if problem.load is None:
        return of_open_load(schedule, load, proved=True)
    return with_deadline(problem, Solution(schedule=schedule, optimal=True))
