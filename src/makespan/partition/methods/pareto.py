"""The whole front of time and energy."""

from __future__ import annotations

from typing import Any

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.partition.least_sum.late import objective_of
from makespan.partition.least_sum.pairs import front
from makespan.partition.least_sum.plan import aimed_plan
from makespan.partition.needs import A_FRONT, NO_OTHER_PREFERENCE
from makespan.partition.plan import plan
from makespan.partition.problem import Partition
from makespan.partition.threshold.aim import Aim
from makespan.partition.threshold.search import value_of
from makespan.partition.threshold.sums import Expired, Sums


@register(
    "partition",
    name="pareto",
    needs=(A_FRONT, NO_OTHER_PREFERENCE),
    proves="every point has the least energy under a limit just below the next slower time",
    complexity="one total per point",
    source="Haimes, Lasdon and Wismer 1971 (ε-constraint); the problem of Khaleghzadeh et al. 2021",
)
def pareto(problem: Partition, control: Control) -> Solution:
    """Every pair of time and energy that no plan beats in both; the schedule is the fastest.

    The details hold ``front``: time, energy and counts by increasing time.
    """

    def search(_: Sums, aim: Aim) -> Solution | None:
        points: list[dict[str, Any]] = []
        last, proved = None, True
        try:
            for time, found in front(problem.choices, aim.tasks, aim.cap, control):
                last, proved = found, proved and found.proved
                counts = problem.choices.table.counts_at(found.entries).tolist()
                named = dict(zip(problem.machines, counts, strict=True))
                points.append({"time": value_of(time), "energy": found.value, "counts": named})
                if control.expired():
                    proved = False
                    break
        except Expired:
            if last is None:
                raise
            proved = False
        if last is None:
            return None
        number = f"{len(points)} point{'s' if len(points) > 1 else ''} on the front"
        late = () if proved else ("the time was up: only the slower end of the front is complete",)
        return plan(
            problem,
            last.entries,
            optimal=proved,
            objective=None if proved else objective_of(problem, last.entries),
            notes=(*aim.notes, number, *late),
            details={"front": points[::-1]},
        )

    return aimed_plan(problem, control, search)
