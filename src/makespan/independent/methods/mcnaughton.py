"""McNaughton's wrap-around rule, the optimum with preemption."""

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import loop
from makespan.core.registry import register
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Solution
from makespan.core.steps import Slot, Step, number
from makespan.independent.bounds import total
from makespan.independent.needs import IDENTICAL, NO_RELEASES, PREEMPTION
from makespan.independent.problem import IndependentTasks

ROUNDING = 2.0**-50
BOUND_IS_MET = 1e-9


@register(
    needs=(IDENTICAL, PREEMPTION, NO_RELEASES),
    proves="no plan ends before max(sum / m, longest), and this one ends then",
    complexity="O(n + m), at most m - 1 tasks cut",
    source="McNaughton 1959, theorem 3.1",
)
def mcnaughton(problem: IndependentTasks, control: Control) -> Solution:
    """Fill the machines one after another up to the optimum; cut the task that does not fit."""
    seconds = problem.durations
    average = total(seconds) / problem.machine_count
    optimum = max(average, float(seconds.max(initial=0.0)))
    schedule = _wrapped_around(problem, optimum)
    _log_wrapping(problem, control, schedule)
    return Solution(
        schedule=schedule,
        lower_bound=optimum,
        optimal=schedule.makespan <= optimum * (1 + BOUND_IS_MET),
    )


def _wrapped_around(problem: IndependentTasks, optimum: float) -> Schedule:
    """Return the schedule: what does not fit before ``optimum`` starts the next machine at 0."""
    seconds = problem.durations
    last, slack = problem.machine_count - 1, ROUNDING * optimum
    room = len(seconds) + problem.useful_machines
    columns = (
        np.empty(room, np.int64), np.empty(room, np.int64),
        np.empty(room), np.empty(room), np.empty(room),
    )  # fmt: skip
    rows = wrap_around.at(len(seconds))(seconds, optimum, slack, last, *columns)
    machine, task, amount, start, end = (column[:rows] for column in columns)
    return Schedule.of_columns(
        problem.machines,
        kind=Activity.COMPUTE,
        machine=machine,
        peer=-1,
        item=task,
        amount=amount,
        start=start,
        end=end,
        earliest=True,
        copy=False,
    )


@loop(pays_from=100_000)  # tasks
def wrap_around(
    seconds: Floats,
    optimum: float,
    slack: float,
    last: int,
    machine: Integers,
    task: Integers,
    amount: Floats,
    start: Floats,
    end: Floats,
) -> int:
    """Fill the columns of McNaughton's schedule; return the number of rows.

    What does not fit before ``optimum`` starts the next machine at 0; a remainder within
    ``slack`` is not cut off. ``last`` is the last machine.
    """
    row, now, time = 0, 0, 0.0
    for index in range(len(seconds)):
        duration = seconds[index]
        if duration == 0.0:
            continue
        if now < last and optimum - time <= slack:
            now, time = now + 1, 0.0
        whole = now == last or time + duration <= optimum + slack
        machine[row], task[row], start[row] = now, index, time
        amount[row] = duration if whole else optimum - time
        end[row] = time + duration if whole else optimum
        time += duration
        row += 1
        if not whole:
            rest = duration - amount[row - 1]
            now += 1
            machine[row], task[row], start[row] = now, index, 0.0
            amount[row], end[row] = rest, rest
            time = rest
            row += 1
    return row


def _log_wrapping(problem: IndependentTasks, control: Control, schedule: Schedule) -> None:
    """Log how McNaughton's rule fills one machine after another."""
    if not control.log_steps:
        return
    rows = zip(schedule.item, schedule.machine, schedule.start, schedule.end, strict=True)
    pieces = np.bincount(schedule.item, minlength=len(problem.durations))
    for item, machine, start, end in rows:
        name, where = problem.tasks[item], problem.machines[machine]
        part = ", a part of it" if pieces[item] > 1 else ""
        control.step(
            Step(
                text=f"{name} to {where}, {number(start)} to {number(end)}{part}",
                cells={
                    "task": name, "seconds": float(problem.durations[item]), "to": where,
                    "start": float(start), "end": float(end), "": part.removeprefix(", "),
                },
                items={"chosen": (int(item),), "placed": (int(item),)},
                slots=(Slot(where, float(start), float(end), "chosen"),),
            )
        )  # fmt: skip
