"""List scheduling: in the given order, and longest processing time first."""

import heapq

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.registry import register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.core.steps import MAX_COLUMNS, MAX_ROWS, Slot, Step, Table, listed, number
from makespan.independent.limits import NoPlace
from makespan.independent.list_scheduling import greedy, longest_first
from makespan.independent.needs import IDENTICAL, NO_PREEMPTION
from makespan.independent.problem import IndependentTasks

SHOWN = 6  # tasks and machines in a line of the log


@register(
    needs=(IDENTICAL, NO_PREEMPTION),
    published=True,
    complexity="O(n log m)",
    source="Graham 1966: at most 2 - 1/m times the optimum",
)
def list_scheduling(problem: IndependentTasks, control: Control) -> Solution:
    """Tasks in the given order, as they are there, each on the machine that is free first."""
    return _in_order(problem, control, np.arange(len(problem.durations)), problem.durations)


@register(
    needs=(IDENTICAL, NO_PREEMPTION),
    complexity="O(n log n)",
    source="Graham 1969: at most 4/3 - 1/(3m) times the optimum; with releases 3/2: Chen and "
    "Vestjens 1997",
)
def lpt(problem: IndependentTasks, control: Control) -> Solution:
    """Longest task first, of those that are there, each on the machine that is free first."""
    return _in_order(problem, control, *longest_first(problem))


def _in_order(
    problem: IndependentTasks, control: Control, tasks: Integers, seconds: Floats
) -> Solution:
    try:
        schedule = greedy(problem, tasks, seconds)
    except NoPlace:
        return Solution(schedule=None, stopped=True)
    _log_greedy(problem, control, schedule)
    return Solution(schedule=schedule)


def _log_greedy(problem: IndependentTasks, control: Control, schedule: Schedule) -> None:
    """Log which machines are free when, as each task goes to the first of them."""
    if not control.log_steps:
        return
    used = problem.useful_machines
    names, machines = problem.tasks, problem.machines
    order = schedule.item.tolist()
    free = [(0.0, machine) for machine in range(used)]
    for row, task in enumerate(order):
        machine, seconds = int(schedule.machine[row]), float(problem.durations[task])
        start, end = float(schedule.start[row]), float(schedule.end[row])
        first = heapq.nsmallest(MAX_ROWS, free)
        queue = order[row : row + MAX_ROWS]
        cells: dict[str, str | float] = {"task": names[task], "seconds": seconds}
        if used <= MAX_COLUMNS:
            cells |= {
                f"{machines[each]} free": time
                for time, each in sorted(free, key=lambda pair: pair[1])
            }
        cells |= {"to": machines[machine], "start": start, "end": end}
        when = listed(f"{machines[each]} at {number(time)}" for time, each in first[:SHOWN])
        more = f" and {used - SHOWN} more" if used > SHOWN else ""
        control.step(
            Step(
                text=f"{names[task]} ({number(seconds)}); free {when}{more}; "
                f"{names[task]} to {machines[machine]}, {number(start)} to {number(end)}",
                cells=cells,
                items={"ready": queue, "chosen": (task,), "placed": (task,)},
                slots=(Slot(machines[machine], start, end, "chosen"),),
                tables=(
                    Table(
                        f"to place: {len(order) - row}",
                        ("task", "seconds"),
                        tuple((names[each], float(problem.durations[each])) for each in queue),
                        0,
                    ),
                    Table(
                        "machines",
                        ("machine", "free"),
                        tuple((machines[each], time) for time, each in first),
                        next((i for i, (_, each) in enumerate(first) if each == machine), -1),
                    ),
                ),
            )
        )
        free = [(end if each == machine else time, each) for time, each in free]
