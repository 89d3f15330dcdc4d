"""The optimum on machines that differ, by mixed-integer programming."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.independent.bounds import best_bound
from makespan.independent.needs import NO_PREEMPTION, PROGRAMMES, UNLIKE
from makespan.independent.placing.assigned import (
    assigned,
    assignments,
    below,
    first_machines,
    left_after,
)
from makespan.independent.placing.multipliers import relaxed
from makespan.independent.problem import IndependentTasks

ENOUGH = 0.9
"""The share of a step between two makespans that the search may leave open."""


@register(
    "independent",
    name="milp",
    needs=(UNLIKE, NO_PREEMPTION),
    reach=(PROGRAMMES,),
    proves="a bound of HiGHS, rounded outward and up to the grain of the durations",
    complexity="exponential",
    source="HiGHS on the assignment model of R || C_max, as in Lenstra, Shmoys and Tardos 1990",
)
def milp(problem: IndependentTasks, control: Control) -> Solution:
    """Search all assignments that a shorter plan may hold with HiGHS, from the best plan so far.

    Which it may hold says the Lagrangean bound: one that with a task there would be longer is left
    out, but for those of the best plan.
    """
    machines = first_machines(problem, control)
    start = assigned(problem, machines)
    release = problem.release
    lower, longest = best_bound(problem), start.makespan
    if control.expired() or lower >= longest:
        return Solution(schedule=start, lower_bound=lower)
    table, shorter = problem.table, below(problem, longest)
    relaxation = relaxed(table, longest, control)
    lower = max(lower, relaxation.bound)
    if control.expired() or lower > shorter:
        return Solution(schedule=start, lower_bound=lower)
    kept = relaxation.within(shorter)
    kept[np.arange(len(machines)), machines] = True
    if release is not None:
        table = np.where(release[:, None] + table <= longest, table, np.inf)
        release = release / longest
    table = np.where(kept, table / longest, np.inf)
    programme, task, machine = assignments(table, 1.0, integer=True, release=release)
    known = np.append(machine == machines[task], 1.0).astype(np.float64)
    if release is not None:
        known = np.append(known, left_after(problem, machines) / longest)
    answer = programme.solve(control, start=known, gap=ENOUGH * (1 - shorter / longest))
    lower = max(lower, answer.bound * longest)
    if not answer.found:
        return Solution(schedule=start, lower_bound=lower, stopped=True)
    taken = answer.values[: len(task)] > 0.5
    machines[task[taken]] = machine[taken]
    plan = assigned(problem, machines)
    return Solution(
        schedule=plan if plan.makespan < longest else start,
        lower_bound=lower,
        stopped=answer.verdict == "feasible",
    )
