"""Steps of methods that place tasks in an order: their decisions, taken once more."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Schedule
from makespan.core.steps import MAX_COLUMNS, MAX_ROWS, Slot, Step, Table, listed, number
from makespan.independent.problem import IndependentTasks

SHOWN = 6
"""Tasks and machines in a line."""


def log_greedy(problem: IndependentTasks, control: Control, schedule: Schedule) -> None:
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
            cells |= {f"{machines[each]} free": time for time, each in sorted(free, key=_machine)}
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


def log_end(
    problem: IndependentTasks, control: Control, task: int, ends: Floats, start: float
) -> None:
    """Log a task that goes where it ends first, given its end on every machine."""
    if not control.log_steps:
        return
    name, machines, machine = problem.tasks[task], problem.machines, int(ends.argmin())
    best, end = np.argsort(ends, kind="stable")[:MAX_ROWS].tolist(), float(ends[machine])
    rows = tuple((machines[each], float(ends[each])) for each in best)
    cells: dict[str, str | float] = {"task": name}
    if len(machines) <= MAX_COLUMNS:
        cells |= {f"on {machines[each]}": float(value) for each, value in enumerate(ends)}
    cells |= {"to": machines[machine], "start": start, "end": end}
    shown = listed((f"{each}: {number(value)}" for each, value in rows), SHOWN)
    control.step(
        Step(
            text=f"{name} would end at {shown}; {name} to {machines[machine]}, "
            f"{number(start)} to {number(end)}",
            cells=cells,
            items={"chosen": (task,), "placed": (task,)},
            slots=(Slot(machines[machine], start, end, "chosen"),),
            tables=(Table(f"{name} on the machines", ("machine", "end"), rows, 0),),
        )
    )


def _machine(pair: tuple[float, int]) -> int:
    return pair[1]


def log_capacity(
    control: Control, capacity: float, *, fits: bool, lower: float, upper: float
) -> None:
    """Log a try of MULTIFIT: whether first fit packs all tasks into machines of ``capacity``."""
    word = "all tasks fit" if fits else "not all tasks fit"
    at, low, high = (f"{value:.8g}" for value in (capacity, lower, upper))
    control.step(
        Step(
            text=f"capacity {at}: {word}; the least is between {low} and {high}",
            cells={"capacity": at, "first fit": word, "from": low, "to": high},
            values={"capacity": capacity, "from": lower, "to": upper},
        )
    )


def log_exchange(
    problem: IndependentTasks,
    control: Control,
    tasks: Sequence[int],
    pair: Sequence[int],
    loads: Sequence[float],
) -> None:
    """Log a move of a task, or a swap of two, on a pair of machines.

    Parameters
    ----------
    loads
        Of the machine that the first task leaves, of the other, and of both afterwards.
    """
    one, other = (problem.machines[each] for each in pair)
    given, back = [*(problem.tasks[each] for each in tasks), ""][:2]
    was, had, now, has = map(float, loads)
    control.step(
        Step(
            text=f"{given} from {one} to {other}{f', {back} back' if back else ''}: "
            f"{one} {number(was)} to {number(now)}, {other} {number(had)} to {number(has)}",
            cells={
                "task": given, "from": one, "to": other, "back": back,
                "load": was, "now": now, "its load": had, "then": has,
            },
            items={"chosen": tuple(tasks)},
        )
    )  # fmt: skip


def log_joined(control: Control, differences: tuple[float, float], left: int, now: float) -> None:
    """Log two partial plans that are joined, by their differences, and how many are left."""
    if not control.log_steps:
        return
    one, other = differences
    control.step(
        Step(
            text=f"differences {number(one)} and {number(other)} become {number(now)}; partial "
            f"plans left: {left}",
            cells={"largest": one, "next": other, "joined": now, "left": left},
            values={"difference": now},
        )
    )


def log_wrapping(problem: IndependentTasks, control: Control, schedule: Schedule) -> None:
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
