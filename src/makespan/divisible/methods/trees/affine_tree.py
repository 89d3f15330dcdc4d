"""Trees with fixed costs: who takes part, by leaving nodes out while that helps."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.divisible.model.tree import Tree
from makespan.divisible.needs import A_LOAD, A_TREE, FINITE_SPEED
from makespan.divisible.one_round.linear import with_deadline
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing.trees import timed_tree
from makespan.divisible.trees.equivalent import EqualFinish, equal_finish

MAX_TRIED = 400  # nodes up to which leaving each one out is tried


def _no_fixed_costs(problem: DivisibleLoad) -> str | None:
    return None if problem.has_latencies else "no cost is fixed"


@register(
    "divisible",
    name="affine-tree",
    needs=(
        A_TREE,
        A_LOAD,
        Need("fixed costs", _no_fixed_costs),
        FINITE_SPEED,
    ),
    complexity="O(n) for each set of nodes tried, at most n a pass",
    source="equivalent processors (Cheng and Robertazzi 1990) with start-ups; which nodes take "
    "part is searched",
)
def affine_tree(problem: DivisibleLoad, control: Control) -> Solution:
    """Equal finish with start-ups; nodes are left out as long as the plan then ends earlier.

    Children are served by link cost. A heuristic: the bound is the same tree without start-ups.
    """
    tree = problem.platform
    assert isinstance(tree, Tree)
    assert problem.load is not None
    if problem.load == 0:
        nothing = timed_tree(problem, np.zeros(len(tree)))
        return Solution(schedule=nothing, optimal=True)
    used = tree.computes.copy() & np.isfinite(tree.compute_per_unit)
    if not used.any():
        return Solution(schedule=None, infeasible="there is no machine to compute the load")
    found = _without_negative(tree, used, problem.load, control)
    if len(tree) <= MAX_TRIED:
        found = _thinned(tree, used, found, problem.load, control)
    schedule = timed_tree(problem, np.maximum(found.amount, 0.0))
    return with_deadline(problem, Solution(schedule=schedule))


def _without_negative(tree: Tree, used: np.ndarray, load: float, control: Control) -> EqualFinish:
    """Leave out who would get less than nothing, the worst first; change ``used`` in place.

    Of many nodes all of them at once; all but one when the time is up.
    """
    while True:
        found = equal_finish(tree, used, load)
        assert found is not None
        amount = np.where(used, found.amount, np.inf)
        worst = int(np.argmin(amount))
        if amount[worst] > 0 or np.count_nonzero(used) == 1:
            return found
        if len(tree) <= MAX_TRIED and not control.expired():
            used[worst] = False
            continue
        kept = used & (found.amount > 0)
        if control.expired() or not kept.any():
            kept = np.arange(len(tree)) == int(np.argmax(np.where(used, found.amount, -np.inf)))
        used[:] = kept


def _thinned(
    tree: Tree, used: np.ndarray, found: EqualFinish, load: float, control: Control
) -> EqualFinish:
    """Leave out or take back single nodes while the plan then ends earlier."""
    able = np.flatnonzero(tree.computes & np.isfinite(tree.compute_per_unit)).tolist()
    improved = True
    while improved and not control.expired():
        improved = False
        for node in able:
            trial = used.copy()
            trial[node] = not trial[node]
            if not trial.any() or control.expired():
                continue
            other = _without_negative(tree, trial, load, control)
            if other.end < found.end * (1 - 1e-12):
                found, improved = other, True
                used[:] = trial
    return found
