"""Least makespan for any costs: the least threshold at which counts add up."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.partition.least_sum.plan import aimed_plan
from makespan.partition.least_sum.preference import preferred
from makespan.partition.needs import LEAST_MAKESPAN
from makespan.partition.plan import plan
from makespan.partition.problem import Partition
from makespan.partition.threshold.aim import Aim
from makespan.partition.threshold.search import least_feasible
from makespan.partition.threshold.sums import Sums


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

    def search(sums: Sums, aim: Aim) -> Solution | None:
        ends = least_feasible(sums, aim.tasks, aim.cap, control)
        if ends is None:
            return None
        entries, notes = preferred(problem, sums, ends, aim.tasks, control)
        return plan(problem, entries, optimal=True, notes=(*aim.notes, *notes))

    return aimed_plan(problem, control, search)
