"""The least sum of times or energies, alone or beside the makespan: price per task, core, proof."""

from __future__ import annotations

from collections.abc import Callable

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Objective, Solution
from makespan.partition.least_sum.front import energy_then_time, time_then_energy
from makespan.partition.least_sum.plan import plan_for_target
from makespan.partition.least_sum.search import LATE, LeastSum, least_sum
from makespan.partition.model.allowed_counts import Allowed
from makespan.partition.needs import A_PAIR, LEAST_SUM, NO_OTHER_PREFERENCE
from makespan.partition.plan import plan
from makespan.partition.problem import Partition
from makespan.partition.threshold.sums import Sums
from makespan.partition.threshold.target import Target

Find = Callable[[Allowed, Sums, int, int, Control], LeastSum | None]
"""From choices, their sums, tasks, the greatest cost allowed (bits) and the control to a plan."""


@register(
    "partition",
    name="total",
    needs=(LEAST_SUM, NO_OTHER_PREFERENCE),
    proves="no entry outside the core can improve the sum (reduced costs), to within rounding",
    complexity="O(table) for the hulls, then O(core x range of sums); O(n T^2) at worst",
    source="after Pisinger 1995; the problem of Pilla 2022 (federated learning)",
)
def total(problem: Partition, control: Control) -> Solution:
    """Least sum of all resources' times, or energies, by the deadline if there is one."""

    def find(choices: Allowed, _: Sums, tasks: int, cap: int, control: Control) -> LeastSum | None:
        table = choices.table
        weights = table.values if problem.objective == "total" else table.energies
        assert weights is not None
        return least_sum(choices, weights, cap, tasks, control)

    return _sum_plan(problem, control, problem.objective, find)


@register(
    "partition",
    name="lexicographic",
    needs=(A_PAIR, NO_OTHER_PREFERENCE),
    proves="exact threshold for the time; reduced costs for the energy, to within rounding",
    complexity="threshold and total; for energy, then time, O(log) searches of the core",
    source="Khaleghzadeh et al. 2021 (the pair); method: ε-constraint over total",
)
def lexicographic(problem: Partition, control: Control) -> Solution:
    """Least energy among the plans of least makespan, or least makespan at the least energy."""
    time_first = problem.objective == "time-then-energy"
    return _sum_plan(
        problem, control, "energy", time_then_energy if time_first else energy_then_time
    )


def _sum_plan(problem: Partition, control: Control, name: str, find: Find) -> Solution:
    """Return the plan that ``find`` finds, with its sum as the objective ``name``."""

    def search(sums: Sums, target: Target) -> Solution | None:
        found = find(problem.choices, sums, target.tasks, target.cap, control)
        if found is None:
            return None
        return plan(
            problem,
            found.entries,
            optimal=found.proved,
            notes=target.notes if found.proved else (*target.notes, LATE),
            objective=Objective(name=name, value=found.value, bound=found.bound),
        )

    return plan_for_target(problem, control, search)
