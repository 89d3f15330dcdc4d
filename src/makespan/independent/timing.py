"""Decisions → start times, as early as possible.

The decisions are the machine of every row and the order of the rows on each machine. Without
preemption the machines do not meet, so each runs its tasks back to back, or when they are released;
with it, a piece also waits for the end of its task's earlier piece.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.numeric.arrays import Floats, Integers, readonly
from makespan.core.numeric.jit import loop
from makespan.core.schedule import Activity, Schedule
from makespan.core.simulation import Replay
from makespan.independent.problem import IndependentTasks

timing_loop = loop(pays_from=100_000)  # rows

SECONDS_BEHIND = 4e-8  # of each task


def postprocessing_seconds(problem: IndependentTasks) -> float:
    """Return about how many seconds it takes to time, referee and bound a large plan."""
    return SECONDS_BEHIND * len(problem.durations)


def tasks(problem: IndependentTasks) -> Sequence[str]:
    """Return the names that the items of computations index."""
    return problem.tasks


def scheduled(
    problem: IndependentTasks, tasks: Integers, duration: Floats, machine: Integers
) -> Schedule:
    """Return the schedule that starts ``tasks``, in this order, each in one piece on its machine.

    ``duration`` and ``machine`` are those of these tasks. The arrays become the schedule's own.
    """
    if problem.release is None:
        start = _back_to_back(machine, duration)
    else:
        start = _one_at_a_time(problem, machine, tasks, duration)
    return computed(problem, machine, tasks, duration, start, start + duration)


def computed(
    problem: IndependentTasks,
    machine: ArrayLike, task: ArrayLike, amount: ArrayLike, start: ArrayLike, end: ArrayLike,
) -> Schedule:  # fmt: skip
    """Return the schedule of these rows, all as early as can be; the arrays become its own."""
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


def retimed(
    problem: IndependentTasks, schedule: Schedule, factors: Floats | None = None
) -> Schedule:
    """Return ``schedule`` with the same machines and orders, everything as early as possible.

    ``factors`` multiply the durations of the rows; None: nominal durations. Complexity: O(rows log
    rows).
    """
    schedule = schedule.renamed(problem.machines)
    duration = schedule.amount if factors is None else schedule.amount * factors
    meet = problem.preemptive or problem.release is not None
    if not meet and _in_order(schedule):
        start = _back_to_back(schedule.machine, duration)
    else:
        order = np.lexsort((schedule.end, schedule.start))
        machine, seconds = schedule.machine[order], duration[order]
        start = np.empty(len(schedule))
        if meet:
            start[order] = _one_at_a_time(problem, machine, schedule.item[order], seconds)
        else:
            start[order] = _back_to_back(machine, seconds)
    return schedule.timed(start, start + duration)


def replay(problem: IndependentTasks, schedule: Schedule, repetitions: int) -> Replay:
    """Return the decisions of a schedule, to be carried out many times.

    Without preemption and releases a machine ends when the sum of its durations is over.
    Complexity: O(rows) a repetition.
    """
    schedule = schedule.renamed(problem.machines)
    if problem.preemptive or problem.release is not None:
        return Replay(lambda factors: retimed(problem, schedule, factors).makespan)

    def end(factors: Floats) -> float:
        busy = np.bincount(schedule.machine, weights=schedule.amount * factors)
        return float(busy.max(initial=0.0))

    return Replay(end)


def _in_order(schedule: Schedule) -> bool:
    """Whether a long schedule's rows stand in the order in which their machines run them."""
    if not in_order.pays(len(schedule)):
        return False
    latest = np.full(2 * (int(schedule.machine.max(initial=-1)) + 1), -np.inf)
    return bool(
        in_order.compiled(*readonly(schedule.machine, schedule.start, schedule.end), latest)
    )


def _back_to_back(machine: Integers, duration: Floats) -> Floats:
    """Return the starts of rows that follow each other on their machines without idle time."""
    on, free = _free(machine)
    start = np.empty(len(on))
    back_to_back.run(len(on), (on, duration), (free, start))
    return start


def _one_at_a_time(
    problem: IndependentTasks, machine: Integers, task: Integers, duration: Floats
) -> Floats:
    """Return the starts of pieces, each waiting for its machine, and for its task's release and
    last piece.
    """
    on, free = _free(machine)
    of, over = _free(task) if problem.release is None else (task, problem.release.copy())
    start = np.empty(len(on))
    one_at_a_time.run(len(on), (on, of, duration), (free, over, start))
    return start


def _free(things: Integers) -> tuple[Integers, Floats]:
    """Return the numbers of things, small ones where there are few, and a 0 for each of them."""
    count = int(things.max(initial=-1)) + 1
    if count <= 2 * len(things):
        return things, np.zeros(count)
    names, numbers = np.unique(things, return_inverse=True)
    return numbers, np.zeros(len(names))


@timing_loop
def back_to_back(machine, duration, free, start):  # type: ignore[no-untyped-def]
    """Start every row when the rows before it on its machine are over.

    Each machine is summed on its own: one running sum over all would lose the digits that tell
    the tasks of a long plan apart.
    """
    for row in range(len(machine)):
        start[row] = free[machine[row]]
        free[machine[row]] += duration[row]


@timing_loop
def one_at_a_time(machine, task, duration, machine_free, task_free, start):  # type: ignore[no-untyped-def]
    """Start every piece when its machine is free and its task's last piece is over."""
    for row in range(len(machine)):
        begin = max(machine_free[machine[row]], task_free[task[row]])
        start[row] = begin
        machine_free[machine[row]] = task_free[task[row]] = begin + duration[row]


@timing_loop
def in_order(machine, start, end, latest):  # type: ignore[no-untyped-def]
    """Whether the rows of every machine stand in the order of their starts and ends.

    ``latest`` holds minus infinity twice for each machine.
    """
    for row in range(len(machine)):
        at = 2 * machine[row]
        if start[row] < latest[at] or (start[row] == latest[at] and end[row] < latest[at + 1]):
            return False
        latest[at], latest[at + 1] = start[row], end[row]
    return True


class Piece(NamedTuple):
    """A part of a task on a machine, from ``start`` to ``end``."""

    task: int
    machine: int
    start: float
    end: float


def cut(problem: IndependentTasks, pieces: Sequence[Piece]) -> Schedule:
    """Return the schedule of these pieces, and of an empty one for each task without any."""
    task, machine, start, end = np.array(pieces).reshape(-1, 4).T
    item = task.astype(np.int64)
    release = np.zeros(len(problem.durations)) if problem.release is None else problem.release
    some = (problem.least_seconds > 0) | (release > 0)
    some[item] = False
    others = np.flatnonzero(some)
    where = np.zeros(len(others), dtype=np.int64)
    if problem.durations.ndim == 2:
        where = problem.durations[others].argmin(axis=1)
    return Schedule.of_columns(
        problem.machines,
        kind=Activity.COMPUTE,
        machine=np.append(machine.astype(np.int64), where),
        peer=-1,
        item=np.append(item, others),
        amount=np.append(end - start, np.zeros(len(others))),
        start=np.append(start, release[others]),
        end=np.append(end, release[others]),
    )
