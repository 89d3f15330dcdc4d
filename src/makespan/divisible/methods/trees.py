"""Loads handed down in trees: equivalent processors, and with fixed costs searched and proved."""

from dataclasses import replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from makespan.backends.answer import Verdict
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.registry import Need, register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.divisible.model.tree import Levels, Tree
from makespan.divisible.needs import A_GOAL, A_TREE, FINITE_SPEED, at_most, nonzero
from makespan.divisible.one_round.plans import NO_MAXIMUM, of_open_load
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import timed_tree
from makespan.divisible.trees.equivalent import (
    EqualFinish,
    equal_finish,
    equivalent_tree,
    spread_tree,
)
from makespan.divisible.trees.prices import most_by, price_bound, seconds_for
from makespan.divisible.trees.programme import TreeProgramme


@register(
    needs=(A_TREE, Need("no fixed costs", nonzero("send_fixed", "compute_fixed"))),
    proves="a subtree acts as one processor; children by non-decreasing link cost finish together",
    complexity="O(n log n)",
    source="Cheng and Robertazzi 1990; Benoit 2016, theorem",
)
def tree(problem: DivisibleLoad, control: Control) -> Solution:
    """Equivalent processors bottom up; children by non-decreasing link cost, all end together."""
    rate, share = equivalent_tree(problem.tree)
    if rate == 0.0 and problem.load:
        return Solution(schedule=None, infeasible="there is no machine to compute the load")
    load = problem.latest * rate if problem.load is None else problem.load
    if not np.isfinite(load):
        return NO_MAXIMUM
    schedule = timed_tree(problem, share * load)
    if problem.load is None:
        return of_open_load(schedule, load, proved=True)
    return Solution(schedule=schedule, optimal=True)


MAX_TRIED = 400  # nodes up to which leaving each one out is tried
SMALL = 8  # nodes up to which the programme of the tree proves what there is
STEPS = 80  # of a bisection, or doublings before it
LARGEST = 1e15  # units: a load that large means that there is no maximum


def _plain(problem: DivisibleLoad) -> str | None:
    free = FINITE_SPEED.unmet(problem) is not None
    return None if problem.has_latencies or free else "no cost is fixed"


@register(
    needs=(A_TREE, Need("fixed costs, or a node that computes in no time", _plain)),
    complexity="O(n) for each set of nodes tried, at most n a pass; some dozens of passes where "
    "the load is open",
    source="equivalent processors (Cheng and Robertazzi 1990) with start-ups; which nodes take "
    "part is searched",
)
def affine_tree(problem: DivisibleLoad, control: Control) -> Solution:
    """Equal finish with start-ups; nodes are left out as long as the plan then ends earlier.

    Children are served by link cost. Where the load is open, the most that ends by the deadline is
    found by bisection. A heuristic; its bound has a price for the time of each node's port.
    """
    tree = problem.tree
    if not tree.computes.any() and problem.load != 0.0:
        if problem.load is None:
            return _planned_most(problem, np.zeros(len(tree)), 0.0)
        return Solution(schedule=None, infeasible="there is no machine to compute the load")
    if problem.load is None:
        return _by_the_deadline(problem, tree, control)
    schedule = timed_tree(problem, _amounts(problem, tree, problem.load, control))
    bound = None
    if _has_time(tree, schedule.makespan, control):
        bound = price_bound(tree, problem.load, schedule.makespan)
    return Solution(schedule=schedule, lower_bound=bound)


def _has_time(tree: Tree, end: float, control: Control) -> bool:
    """Whether there is time for the prices of the ports, and a need of them."""
    left = np.inf if control.remaining is None else control.remaining
    return len(tree) > SMALL and seconds_for(tree, end) < left


def _amounts(problem: DivisibleLoad, tree: Tree, load: float, control: Control) -> Floats:
    """Return the loads of the nodes: all end together, or one that needs no time does all."""
    if load == 0.0:
        return np.zeros(len(tree))
    free = np.flatnonzero(tree.computes & (tree.compute_per_unit == 0))[:MAX_TRIED]
    found = [np.where(np.arange(len(tree)) == node, load, 0.0) for node in free]
    used = _timely(tree)
    if used.any():
        best = _without_negative(tree, used, load, control)
        if len(tree) <= MAX_TRIED:
            best = _thinned(tree, used, best, load, control)
        found.append(np.maximum(best.amount, 0.0))
    return min(found, key=lambda amount: timed_tree(problem, amount).makespan)


def _timely(tree: Tree) -> NDArray[np.bool_]:
    return tree.computes & np.isfinite(tree.compute_per_unit) & (tree.compute_per_unit > 0)


def _by_the_deadline(problem: DivisibleLoad, tree: Tree, control: Control) -> Solution:
    """Return a plan for the most load that was found to end by the deadline."""
    limit, best = problem.latest, np.zeros(len(tree))
    most = limit * equivalent_tree(tree)[0]
    low, high = 0.0, most if np.isfinite(most) else max(1.0, limit)
    for _ in range(STEPS):
        if control.expired() or not low < high < LARGEST:
            break
        load = high if np.isinf(most) else (low + high) / 2.0
        amount = _amounts(problem, tree, load, control)
        if timed_tree(problem, amount).makespan <= limit:
            low, best = load, amount
            high = 2.0 * high if np.isinf(most) else high
        else:
            high = most = load
    if high >= LARGEST:
        return Solution(schedule=None, notes=("a node does any load by the deadline: no maximum",))
    bound = spread_tree(tree, limit, np.inf)[0]
    if _has_time(tree, limit, control):
        bound = min(bound, float(most_by(tree, limit)[-1]))
    return _planned_most(problem, best, bound)


def _planned_most(problem: DivisibleLoad, amount: Floats, bound: float) -> Solution:
    value = float(amount.sum())
    most = bound * (1 + 1e-9)
    return of_open_load(timed_tree(problem, amount), value, most, proved=value >= most)


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
    able = np.flatnonzero(_timely(tree)).tolist()
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


MAX_NODES = 40
SHARE, ENOUGH = 0.3, 2.0  # of the time that is left, and seconds: the greater of both is spent
WITHIN = 1e-9  # relative: amounts this near to the load are made to add up to it


@register(
    needs=(A_TREE, A_GOAL),
    reach=(at_most(MAX_NODES, "nodes"),),
    proves="the dual bound of the branch and bound meets the plan",
    complexity="exponential in the nodes",
    source="Cheng and Robertazzi 1990, equivalent processors, with the start-ups of Benoit 2016 as "
    "a mixed-integer programme",
)
def tree_programme(problem: DivisibleLoad, control: Control) -> Solution:
    """Branch and bound over who takes part and in which order each node serves its children."""
    known = control.incumbent or affine_tree(problem, control)
    horizon = problem.deadline if problem.load is None else known.makespan
    if horizon is None or not 0 < horizon < inf:
        return replace(known, lower_bound=None)
    built = TreeProgramme(problem, horizon)
    if not built.is_bounded:
        return known
    with control.sharing(SHARE, least=ENOUGH):
        answer = built.programme.solve(control)
    best = known
    if answer.found:
        again = TreeProgramme(problem, horizon, answer.values[built.choices])
        sized = again.programme.solve(Control())
        if sized.verdict is Verdict.OPTIMAL:
            found = _planned(problem, *again.plan(sized))
            if found is not None and found.rank < known.rank:
                best = found
    stopped = answer.verdict is not Verdict.OPTIMAL
    if problem.load is not None:
        proved = answer.proves(best.makespan / built.second)
        bound = min(best.makespan, answer.bound * built.second)
        return replace(best, lower_bound=bound, optimal=proved, stopped=stopped)
    value = 0.0 if best.objective is None else best.objective.value
    proved = answer.proves(-value / built.unit)
    assert best.schedule is not None
    most = -answer.bound * built.unit
    return of_open_load(best.schedule, value, most, proved=proved, stopped=stopped)


def _planned(problem: DivisibleLoad, amount: Floats, levels: Levels) -> Solution | None:
    """Return the plan of amounts, None where it misses the load or the deadline."""
    total = float(amount.sum())
    if problem.load is not None:
        if not total > 0:
            return None
        amount = amount * (problem.load / total)
        return Solution(schedule=timed_tree(problem, amount, levels))
    schedule: Schedule = timed_tree(problem, amount, levels)
    if schedule.makespan > problem.latest * (1 + WITHIN):
        return None
    return of_open_load(schedule, total)
