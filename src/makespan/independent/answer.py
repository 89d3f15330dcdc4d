"""Schedule → which task runs where and when.

A task of duration 0 that is there at 0 has no row in a schedule: it is shown on the first machine
where it takes no time, from 0 to 0. With preemption it has no piece.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from makespan.core.schedule import Schedule
from makespan.independent.problem import IndependentTasks

SHOWN = 20
SHOWN_TASKS = 12


def answer(problem: IndependentTasks, schedule: Schedule) -> dict[str, Any]:
    """Return machine, start and end of each task, or its pieces by their starts if preemptive."""
    schedule = schedule.renamed(problem.machines)
    if problem.preemptive:
        return {"pieces": _pieces(problem, schedule)}
    names, first = list(problem.tasks), problem.machines[0]
    machine_of, start, end = (dict.fromkeys(names, value) for value in (first, 0.0, 0.0))
    if problem.durations.ndim == 2:
        quickest = problem.durations.argmin(axis=1).tolist()
        machine_of = {
            task: problem.machines[machine] for task, machine in zip(names, quickest, strict=True)
        }
    for item, machine, begin, until in _rows(schedule, slice(None)):
        task = names[item]
        machine_of[task], start[task], end[task] = problem.machines[machine], begin, until
    return {"machine_of": machine_of, "start": start, "end": end}


def _pieces(problem: IndependentTasks, schedule: Schedule) -> list[dict[str, Any]]:
    return [
        {
            "task": problem.tasks[task],
            "machine": problem.machines[machine],
            "start": start,
            "end": end,
        }
        for task, machine, start, end in _rows(
            schedule, np.lexsort((schedule.start, schedule.item))
        )
    ]


def _rows(schedule: Schedule, order: Any) -> Iterator[tuple[int, int, float, float]]:
    columns = (schedule.item, schedule.machine, schedule.start, schedule.end)
    return zip(*(column[order].tolist() for column in columns), strict=True)


def lines(problem: IndependentTasks, schedule: Schedule, *, most: int = SHOWN) -> list[str]:
    """Return the plan as a table: machine, number of tasks, when it is done, which tasks."""
    schedule = schedule.renamed(problem.machines)
    used = np.unique(schedule.machine)
    shown, few = used[:most].tolist(), max(SHOWN_TASKS, most - SHOWN)
    order = np.lexsort((schedule.start, schedule.machine))
    begin = np.searchsorted(schedule.machine[order], shown)
    stop = np.searchsorted(schedule.machine[order], shown, side="right")
    names = [problem.machines[index] for index in shown]
    width = max([7, *map(len, names)])
    table = [f"{'machine':<{width}}  {'tasks':>8}  {'done':>14}  order"]
    for name, low, high in zip(names, begin.tolist(), stop.tolist(), strict=True):
        rows = order[low:high]
        names_of = " ".join(problem.tasks[task] for task in schedule.item[rows[:few]].tolist())
        more = " …" if len(rows) > few else ""
        done = float(schedule.end[rows].max())
        table.append(f"{name:<{width}}  {len(rows):>8}  {done:>14.8g}  {names_of}{more}")
    if len(used) > len(shown):
        table.append(f"… and {len(used) - len(shown)} more machines")
    if len(used) < problem.machine_count:
        table.append(
            f"{problem.machine_count - len(used)} of {problem.machine_count} machines idle"
        )
    return table
