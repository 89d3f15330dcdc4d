"""The least sum of times or energies, alone or beside the makespan, and their whole front."""

from collections.abc import Callable
from typing import Any

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Objective, Solution, front_in_words
from makespan.partition.least_sum.front import (
    Front,
    Step,
    energy_then_time,
    front,
    time_then_energy,
)
from makespan.partition.least_sum.search import LATE, LeastSum, least_sum
from makespan.partition.model.allowed_counts import Allowed
from makespan.partition.needs import A_FRONT, A_PAIR, LEAST_SUM, NO_OTHER_PREFERENCE
from makespan.partition.plan import plan
from makespan.partition.problem import Partition
from makespan.partition.threshold.search import value_of
from makespan.partition.threshold.sums import Expired, Sums
from makespan.partition.threshold.target import Target, late_plan, objective_of, plan_for_target

Find = Callable[[Allowed, Sums, int, int, Control], LeastSum | None]
"""From choices, their sums, tasks, the greatest cost allowed (bits) and the control to a plan."""


@register(
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


@register(
    needs=(A_FRONT, NO_OTHER_PREFERENCE),
    proves="between the times of two points, no plan has less energy than the first",
    complexity="one total per point, and up to two more for the first 64",
    source="Haimes, Lasdon and Wismer 1971 (ε-constraint); the problem of Khaleghzadeh et al. 2021",
)
def pareto(problem: Partition, control: Control) -> Solution:
    """Every pair of time and energy that no plan beats in both; the schedule is the fastest.

    Both ends are found first, then what is between them. The details hold ``front``: time, energy
    and counts by increasing time; and ``unknown``: pairs of times between which there may be
    other points, as the time was up. Outside these nothing is missing.
    """

    def search(sums: Sums, target: Target) -> Solution | None:
        try:
            found = front(problem.choices, sums, target.tasks, target.cap, control)
        except Expired as expired:
            return late_plan(problem, target, expired)
        if found is None:
            return None
        entries = found.steps[0].entries
        points = [(value_of(step.first), step.energy) for step in found.steps]
        proved = not found.unknown
        return plan(
            problem,
            entries,
            optimal=proved,
            objective=None if proved else objective_of(problem, entries),
            notes=(*target.notes, front_in_words(points, "energy"), *_cut(found)),
            details={
                "front": [_point(problem, step) for step in found.steps],
                "unknown": [list(times) for times in found.unknown],
            },
        )

    return plan_for_target(problem, control, search)


def _point(problem: Partition, step: Step) -> dict[str, Any]:
    counts = problem.choices.table.counts_at(step.entries).tolist()
    named = dict(zip(problem.machines, counts, strict=True))
    return {"time": value_of(step.first), "energy": step.energy, "counts": named}


def _cut(found: Front) -> tuple[str, ...]:
    """Say what part of the front may lack points."""
    if not found.unknown:
        return ()
    low, high = found.unknown[0][0], found.unknown[-1][1]
    gaps = len(found.unknown)
    where = f" in {gaps} gaps" if gaps > 1 else ""
    return (
        "the time limit was reached: other points may lie between "
        f"{low:.4g} s and {high:.4g} s{where}; "
        "elsewhere the front is complete",
    )
