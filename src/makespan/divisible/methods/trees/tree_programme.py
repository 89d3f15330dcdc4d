"""Trees with fixed costs: small ones proved by a mixed-integer programme."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from makespan.backends.answer import Verdict
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.registry import Need, register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.divisible.methods.trees.affine_tree import affine_tree
from makespan.divisible.model.tree import Levels
from makespan.divisible.needs import A_TREE, at_most
from makespan.divisible.one_round.linear import of_open_load
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing.trees import timed_tree
from makespan.divisible.trees.programme import TreeProgramme

MAX_NODES = 40
SHARE, ENOUGH = 0.3, 2.0
"""Of the time that is left, and seconds: the greater of both is spent."""
WITHIN = 1e-9  # relative: amounts this near to the load are made to add up to it


def _nothing_to_do(problem: DivisibleLoad) -> str | None:
    goal = problem.deadline if problem.load is None else problem.load
    return None if goal else "nothing is to be done"


@register(
    "divisible",
    name="tree-programme",
    needs=(A_TREE, Need("a load, or time for one", _nothing_to_do)),
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
    assert problem.deadline is not None
    schedule: Schedule = timed_tree(problem, amount, levels)
    if schedule.makespan > problem.deadline * (1 + WITHIN):
        return None
    return of_open_load(schedule, total)
