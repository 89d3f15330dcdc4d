"""Time, then energy; or energy, then time."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.partition.least_sum.pairs import energy_then_time, time_then_energy
from makespan.partition.least_sum.plan import sum_plan
from makespan.partition.needs import A_PAIR, NO_OTHER_PREFERENCE
from makespan.partition.problem import Partition


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
    search = time_then_energy if time_first else energy_then_time
    return sum_plan(problem, control, "energy", search)
