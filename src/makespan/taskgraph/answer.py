"""Schedule → which task is executed where and when."""

from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Activity, Schedule
from makespan.taskgraph.copies import Copies
from makespan.taskgraph.limits import price_of
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.timing import times_of_tasks

SHOWN = 20


def answer(problem: TaskGraph, schedule: Schedule) -> dict[str, Any]:
    """Return the machine, the start and the end of every task; with blocking communication also
    ``taken``, the time from which the machine fetches the task's data, and on machines with prices
    the ``price`` of the plan. With duplication these
    are of the copy that ends first, and ``copies`` lists the machines of all copies.
    """
    copies = Copies(problem, schedule) if problem.duplication else None
    rows = np.flatnonzero(schedule.kind == Activity.COMPUTE)
    rows = rows[np.argsort(schedule.item[rows], kind="stable")]
    if copies is not None:
        rows = copies.row[copies.earliest[copies.earliest >= 0]]
    tasks = problem.named(schedule.item[rows].tolist())

    def by_task(values: Any) -> dict[str, Any]:
        return dict(zip(tasks, values, strict=True))

    found: dict[str, Any] = {
        "machine_of": by_task([schedule.machines[each] for each in schedule.machine[rows]]),
        "start": by_task(schedule.start[rows].tolist()),
        "end": by_task(schedule.end[rows].tolist()),
    }
    if problem.network.is_priced:
        found["price"] = price_of(problem, schedule)
    if problem.is_blocking:
        found["taken"] = by_task(taken(problem, schedule)[schedule.item[rows]].tolist())
    if copies is not None:
        places: dict[str, list[str]] = {name: [] for name in tasks}
        for task, machine in zip(copies.task.tolist(), copies.machine.tolist(), strict=True):
            places[problem.dag.names[task]].append(problem.machines[machine])
        found["copies"] = places
    return found


def taken(problem: TaskGraph, schedule: Schedule) -> Floats:
    """Return when each task is taken: at its first incoming transfer, else at its start."""
    times, _ = times_of_tasks(problem, schedule)
    transfers = np.flatnonzero(schedule.kind == Activity.TRANSFER)
    if problem.is_blocking and len(transfers):
        target = problem.dag.target[schedule.item[transfers]]
        np.minimum.at(times, target, schedule.start[transfers])
    return times


def lines(problem: TaskGraph, schedule: Schedule, *, most: int = SHOWN) -> list[str]:
    """Return the tasks as a table in the order of their starts."""
    rows = schedule.rows_of(Activity.COMPUTE)
    shown = rows[:most].tolist()
    names = problem.named(schedule.item[shown].tolist()) if shown else []
    machines = [schedule.machines[each] for each in schedule.machine[shown]] if shown else []
    first, second = _width("task", names), _width("machine", machines)
    table = [f"{'task':<{first}}  {'machine':<{second}}  {'start':>14}  {'end':>14}"]
    for row, name, machine in zip(shown, names, machines, strict=True):
        table.append(
            f"{name:<{first}}  {machine:<{second}}  "
            f"{schedule.start[row]:>14.8g}  {schedule.end[row]:>14.8g}"
        )
    if len(rows) > most:
        table.append(f"… and {len(rows) - most} more tasks")
    transfers = schedule.kind == Activity.TRANSFER
    busy = len(np.unique(schedule.machine[rows])) if len(rows) else 0
    copies = len(rows) - len(problem.dag)
    more = f", {copies} more {'copy' if copies == 1 else 'copies'}" if copies else ""
    if problem.network.is_priced:
        more += f", price {price_of(problem, schedule):.8g}"
    table.append(
        f"{busy} of {len(problem.network)} machines, {int(transfers.sum())} transfers{more}"
    )
    return table


def _width(heading: str, names: list[str]) -> int:
    return max([len(heading), *map(len, names)])
