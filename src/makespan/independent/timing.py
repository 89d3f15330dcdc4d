"""Decisions → start times, as early as possible.

The decisions are the machine of every row and the order of the rows on each machine. Without
preemption the machines do not meet, so each runs its tasks back to back; with it, a piece also
waits for the end of its task's earlier piece.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers, readonly
from makespan.core.numeric.jit import pays
from makespan.core.schedule import Activity, Schedule
from makespan.core.simulation.replay import Replay
from makespan.independent.problem import IndependentTasks

MANY = 100_000
"""From this many rows on, compiled loops are worth loading."""


def scheduled(
    problem: IndependentTasks, tasks: Integers, duration: Floats, machine: Integers
) -> Schedule:
    """Return the schedule that starts ``tasks``, in this order, on their machines.

    Parameters
    ----------
    problem
        The problem, without preemption.
    tasks
        The tasks (indices) in the order in which they are started.
    duration, machine
        Of each of these the seconds, and the machine.

    The arrays become the schedule's own.
    """
    start = _back_to_back(machine, duration)
    return Schedule.of_columns(
        problem.machines,
        kind=Activity.COMPUTE,
        machine=machine,
        peer=-1,
        item=tasks,
        amount=duration,
        start=start,
        end=start + duration,
        earliest=True,
        copy=False,
    )


def retimed(
    problem: IndependentTasks, schedule: Schedule, factors: Floats | None = None
) -> Schedule:
    """Return ``schedule`` with the same machines and orders, everything as early as possible.

    Parameters
    ----------
    problem, schedule
        What was planned.
    factors
        Factors on the durations of the rows of the schedule; None for nominal durations.

    Complexity: O(rows log rows).
    """
    schedule = schedule.renamed(problem.machines)
    duration = schedule.amount if factors is None else schedule.amount * factors
    if not problem.preemptive and _in_order(schedule):
        start = _back_to_back(schedule.machine, duration)
    else:
        order = np.lexsort((schedule.end, schedule.start))
        machine, seconds = schedule.machine[order], duration[order]
        start = np.empty(len(schedule))
        if problem.preemptive:
            start[order] = _one_at_a_time(machine, schedule.item[order], seconds)
        else:
            start[order] = _back_to_back(machine, seconds)
    return schedule.timed(start, start + duration)


def replay(problem: IndependentTasks, schedule: Schedule, repetitions: int) -> Replay:
    """Return the decisions of a schedule, to be carried out many times.

    Without preemption a machine ends when the sum of its durations is over.
    Complexity: O(rows) a repetition.
    """
    schedule = schedule.renamed(problem.machines)
    if problem.preemptive:
        return Replay(lambda factors: retimed(problem, schedule, factors).makespan)

    def end(factors: Floats) -> float:
        busy = np.bincount(schedule.machine, weights=schedule.amount * factors)
        return float(busy.max(initial=0.0))

    return Replay(end)


def _in_order(schedule: Schedule) -> bool:
    """Whether a long schedule's rows stand in the order in which their machines run them."""
    if not pays(len(schedule), MANY):
        return False
    from makespan.independent.kernels import in_order

    latest = np.full(2 * (int(schedule.machine.max(initial=-1)) + 1), -np.inf)
    return bool(in_order(*readonly(schedule.machine, schedule.start, schedule.end), latest))  # type: ignore[call-arg]


def _back_to_back(machine: Integers, duration: Floats) -> Floats:
    """Return the starts of rows that follow each other on their machines without idle time.

    Each machine is summed on its own: one running sum over all would lose the digits that tell
    the tasks of a long plan apart.
    """
    if pays(len(machine), MANY):
        from makespan.independent.kernels import back_to_back

        result = np.empty(len(machine))
        free = np.zeros(int(machine.max(initial=-1)) + 1)
        back_to_back(*readonly(machine, duration), free, result)  # type: ignore[call-arg]
        return result
    order = np.argsort(machine, kind="stable")
    first = np.flatnonzero(np.diff(machine[order], prepend=-1))
    ends = duration[order]
    for begin, stop in pairwise(np.append(first, len(order)).tolist()):
        if stop - begin > 1:
            np.cumsum(ends[begin:stop], out=ends[begin:stop])
    starts = np.zeros(len(order))
    starts[1:] = ends[:-1]
    starts[first] = 0.0
    result = np.empty(len(order))
    result[order] = starts
    return result


def _one_at_a_time(machine: Integers, task: Integers, duration: Floats) -> Floats:
    """Return the starts of pieces, each waiting for its machine and for its task's last piece."""
    if pays(len(machine), MANY):
        from makespan.independent.kernels import one_at_a_time

        result = np.empty(len(machine))
        free = np.zeros(int(machine.max(initial=-1)) + 1), np.zeros(int(task.max(initial=-1)) + 1)
        one_at_a_time(*readonly(machine, task, duration), *free, result)  # type: ignore[call-arg]
        return result
    machine_free: dict[int, float] = {}
    task_free: dict[int, float] = {}
    starts = []
    columns = (machine.tolist(), task.tolist(), duration.tolist())
    for on, of, seconds in zip(*columns, strict=True):
        start = max(machine_free.get(on, 0.0), task_free.get(of, 0.0))
        starts.append(start)
        machine_free[on] = task_free[of] = start + seconds
    return np.array(starts, dtype=np.float64)
