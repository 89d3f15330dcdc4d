"""McNaughton's wrap-around rule, the optimum with preemption."""

from __future__ import annotations

import math

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.result import Solution
from makespan.core.schedule import Activity, Schedule
from makespan.independent.needs import PREEMPTION
from makespan.independent.problem import IndependentTasks

ROUNDING = 2.0**-50
BOUND_IS_MET = 1e-9


@register(
    "independent",
    name="mcnaughton",
    needs=(PREEMPTION,),
    proves="no plan ends before max(sum / m, longest), and this one ends then",
    complexity="O(n + m), at most m - 1 tasks cut",
    source="R. McNaughton, Scheduling with deadlines and loss functions, Management Science 6, "
    "1959, theorem 3.1",
)
def mcnaughton(problem: IndependentTasks, control: Control) -> Solution:
    """Fill the machines one after another up to the optimum; cut the task that does not fit."""
    seconds = problem.durations
    average = math.fsum(seconds) / problem.machine_count
    optimum = max(average, float(seconds.max(initial=0.0)))
    schedule = _wrapped_around(problem, optimum)
    return Solution(
        schedule=schedule,
        lower_bound=optimum,
        optimal=schedule.makespan <= optimum * (1 + BOUND_IS_MET),
    )


def _wrapped_around(problem: IndependentTasks, optimum: float) -> Schedule:
    """Return the schedule: what does not fit before ``optimum`` starts the next machine at 0.

    A remainder within rounding is not cut off.
    """
    last = problem.machine_count - 1
    slack = ROUNDING * optimum
    rows: list[tuple[int, int, float, float, float]] = []
    machine, time = 0, 0.0
    for task, seconds in enumerate(problem.durations.tolist()):
        if seconds == 0:
            continue
        if machine < last and optimum - time <= slack:
            machine, time = machine + 1, 0.0
        if machine == last or time + seconds <= optimum + slack:
            rows.append((machine, task, seconds, time, time + seconds))
            time += seconds
            continue
        rest = seconds - (optimum - time)
        rows.append((machine, task, optimum - time, time, optimum))
        machine += 1
        rows.append((machine, task, rest, 0.0, rest))
        time = rest
    columns = zip(*rows, strict=True) if rows else ((),) * 5
    machines, tasks, amounts, starts, ends = columns
    return Schedule.of_columns(
        problem.machines,
        kind=Activity.COMPUTE,
        machine=machines,
        peer=-1,
        item=tasks,
        amount=amounts,
        start=starts,
        end=ends,
    )
