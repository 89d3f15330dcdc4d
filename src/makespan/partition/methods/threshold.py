"""Least makespan for any costs: the least threshold at which counts add up."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.partition.least_sum.late import late_plan
from makespan.partition.least_sum.preference import preferred
from makespan.partition.needs import LEAST_MAKESPAN
from makespan.partition.plan import no_plan, plan
from makespan.partition.problem import Partition
from makespan.partition.threshold.aim import Aim, aim_of, explanation
from makespan.partition.threshold.search import least_feasible
from makespan.partition.threshold.sums import Expired, sums_of


@register(
    "partition",
    name="threshold",
    needs=(LEAST_MAKESPAN,),
    proves="no lower threshold lets the allowed counts add up to the tasks (exact sums)",
    complexity="a few reads of the table in practice; O(n T^2 / 64 log T) at worst",
    source="bottleneck search over sums of sets, as subset sums in words (after Pisinger 2003); "
    "statement of Pilla 2022",
)
def threshold(problem: Partition, control: Control) -> Solution:
    """Optimum for any costs: search the least threshold whose allowed counts add up.

    A threshold is feasible if the tasks are a sum of one count per resource that costs no more.
    Sums are sets of bits; only comparisons of given costs decide, so the makespan is exact.
    """
    sums = sums_of(problem.choices, control=control)
    aim: Aim | None = None
    try:
        aim = aim_of(problem, sums, control)
        if aim.infeasible is not None:
            return no_plan(aim.infeasible)
        ends = least_feasible(sums, aim.tasks, aim.cap, control)
        if ends is None:
            return no_plan(explanation(problem, sums, control))
        entries, notes = preferred(problem, sums, ends, aim.tasks, control)
    except Expired as expired:
        return late_plan(problem, aim, expired)
    return plan(problem, entries, optimal=True, notes=(*aim.notes, *notes))
