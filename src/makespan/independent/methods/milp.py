"""The optimum on machines that differ, by mixed-integer programming."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.independent.bounds import bounds
from makespan.independent.needs import PROGRAMMES, UNLIKE
from makespan.independent.placing.assigned import assigned, assignments, first_machines
from makespan.independent.problem import IndependentTasks


@register(
    "independent",
    name="milp",
    needs=(UNLIKE,),
    reach=(PROGRAMMES,),
    proves="a bound of HiGHS, rounded outward and up to the grain of the durations",
    complexity="exponential",
    source="HiGHS on the assignment model of R || C_max, as in Lenstra, Shmoys and Tardos 1990",
)
def milp(problem: IndependentTasks, control: Control) -> Solution:
    """Search all assignments with HiGHS, from the best plan so far."""
    machines = first_machines(problem, control)
    start = assigned(problem, machines)
    lower, longest = max(bound.value for bound in bounds(problem)), start.makespan
    if control.expired() or lower >= longest:
        return Solution(schedule=start, lower_bound=lower)
    programme, task, machine = assignments(problem.table / longest, 1.0, integer=True)
    known = np.append(machine == machines[task], 1.0).astype(np.float64)
    answer = programme.solve(control, start=known)
    lower = max(lower, answer.bound * longest)
    if not answer.found:
        return Solution(schedule=start, lower_bound=lower, stopped=True)
    taken = answer.values[:-1] > 0.5
    machines[task[taken]] = machine[taken]
    plan = assigned(problem, machines)
    return Solution(
        schedule=plan if plan.makespan < longest else start,
        lower_bound=lower,
        stopped=answer.verdict == "feasible",
    )
