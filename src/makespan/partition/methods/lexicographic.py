"""Time, then energy; or energy, then time."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.result import Objective, Solution
from makespan.partition.aim import aim_of, explanation
from makespan.partition.least_sum import LATE
from makespan.partition.needs import A_PAIR, NO_OTHER_PREFERENCE
from makespan.partition.pairs import energy_then_time, time_then_energy
from makespan.partition.plan import no_plan, plan, total_objective
from makespan.partition.problem import Partition
from makespan.partition.sums import Expired, sums_of


@register(
    "partition",
    name="lexicographic",
    needs=(A_PAIR, NO_OTHER_PREFERENCE),
    proves="exact threshold for the time; reduced costs for the energy, to within rounding",
    complexity="threshold and total; for energy, then time, O(log) of them",
    source="H. Khaleghzadeh et al., Bi-objective optimization of data-parallel applications on "
    "heterogeneous HPC platforms, TPDS 32, 2021 (the pair); method: ε-constraint over total",
)
def lexicographic(problem: Partition, control: Control) -> Solution:
    """Least energy among the plans of least makespan, or least makespan at the least energy."""
    sums = sums_of(problem.choices, control=control)
    time_first = problem.objective == "time-then-energy"
    solve = time_then_energy if time_first else energy_then_time
    try:
        aim = aim_of(problem, sums, control)
        if aim.infeasible is not None:
            return no_plan(aim.infeasible)
        found = solve(problem.choices, sums, aim.tasks, aim.cap, control)
    except Expired:
        return Solution(schedule=None)
    if found is None:
        return no_plan(explanation(problem, sums, control))
    proved = found.proved and not control.expired()
    objective: Objective | None = total_objective(found, "energy")
    notes = aim.notes if proved else (*aim.notes, LATE)
    return plan(problem, found.entries, optimal=proved, notes=notes, objective=objective)
