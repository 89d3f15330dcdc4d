"""The whole front of time and energy."""

from __future__ import annotations

from typing import Any

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution, front_in_words
from makespan.partition.least_sum.front import Front, Step, front
from makespan.partition.least_sum.plan import late_plan, objective_of, plan_for_target
from makespan.partition.needs import A_FRONT, NO_OTHER_PREFERENCE
from makespan.partition.plan import plan
from makespan.partition.problem import Partition
from makespan.partition.threshold.search import value_of
from makespan.partition.threshold.sums import Expired, Sums
from makespan.partition.threshold.target import Target


@register(
    "partition",
    name="pareto",
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
        f"the time was up: other points may lie between {low:.4g} s and {high:.4g} s{where}; "
        "elsewhere the front is complete",
    )
