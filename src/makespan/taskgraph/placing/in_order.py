"""An order of tasks → the plan in which each goes to the machine that suits it best."""

from __future__ import annotations

from typing import Literal

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers, readonly
from makespan.core.schedule import Schedule
from makespan.core.system.memory import claim
from makespan.taskgraph.placing.in_time import in_time
from makespan.taskgraph.placing.insertion import Insertion, columns, is_compiled, planned
from makespan.taskgraph.placing.steps import log_insertion
from makespan.taskgraph.problem import TaskGraph

QUICK = 20_000
"""Tries of a task, and hops of its data, that are made even when the time is up."""
SLICE = 500_000
"""Tries of a task on a core between two looks at the clock."""
SECONDS_APPENDED = 1e-7
"""What a task or an edge takes where the time is up, and its row in the plan."""

Aim = Literal["end", "start"]


def inserted(
    problem: TaskGraph,
    control: Control,
    order: Integers,
    *,
    aim: Aim = "end",
    pinned: Integers | None = None,
    bias: Floats | None = None,
    logged: tuple[Floats, str, str] | None = None,
) -> Schedule:
    """Return the plan that places the tasks of ``order`` one after another, by insertion.

    When the time is up, the rest goes behind what is placed, each to the core that is free first;
    where transfers wait, everything goes to one machine.

    Parameters
    ----------
    order
        All tasks, predecessors first.
    aim
        Each task goes where it ends, or starts, first; ties to the lowest machine.
    pinned
        The machine of tasks that have one, -1 for the others.
    bias
        Seconds that are added to what is compared, shape (tasks, machines).
    logged
        For the log of steps: what orders the tasks, its name, and that of the sum with ``bias``.

    Complexity: O(n m + e) where gaps are found at once, all machines exchange data alike and no
    transfer waits; compiled there for large graphs. O(n m g + e m h) else.
    """
    if is_compiled(problem):
        schedule = _compiled(problem, control, order, aim, pinned, bias)
    else:
        schedule = plainly_inserted(problem, control, order, aim=aim, pinned=pinned, bias=bias)
    if logged is not None:
        priority, word, value = logged
        log_insertion(problem, control, schedule, order, priority, word, bias, value)
    return schedule


def plainly_inserted(
    problem: TaskGraph,
    control: Control,
    order: Integers,
    *,
    aim: Aim = "end",
    pinned: Integers | None = None,
    bias: Floats | None = None,
) -> Schedule:
    """Like :func:`inserted`, never compiled."""
    hops = 1 if problem.contention == "none" else int(problem.network.routing.hops.max())
    tried = 1 + max(1, hops) * np.diff(problem.dag.first_in)  # tries and hops for each task
    if control.expired() and tried.sum() * len(problem.network) > QUICK:
        return in_time(problem, control)
    plan, machines, done = Insertion(problem), range(len(problem.network)), 0

    def late(steps: int) -> bool:
        nonlocal done
        done += steps
        return done > QUICK and control.expired()

    for task, steps in zip(order.tolist(), tried[order].tolist(), strict=True):
        fixed = -1 if pinned is None else int(pinned[task])
        if fixed >= 0:
            if late(steps):
                return in_time(problem, control)
            plan.place(task, fixed)
            continue
        best, chosen = np.inf, 0
        for machine in machines:
            if late(steps):
                return in_time(problem, control)
            option = plan.try_on(task, machine)
            value = option.end if aim == "end" else option.start
            if bias is not None:
                value += float(bias[task, machine])
            if value < best:
                best, chosen = value, machine
        plan.place(task, chosen)
    return plan.schedule()


def _compiled(
    problem: TaskGraph,
    control: Control,
    order: Integers,
    aim: Aim,
    pinned: Integers | None,
    bias: Floats | None,
) -> Schedule:
    """Insert in slices, and look at the clock in between."""
    from makespan.taskgraph.placing.insertion_kernels import BLOCK, append_some, insert_some

    dag, count = problem.dag, len(problem.dag)
    cores = int(problem.cores.sum())
    blocks = 2 * cores + 2 + 4 * count // BLOCK
    claim(16 * BLOCK * blocks + 64 * cores, f"the gaps of {cores:,} cores")
    read = columns(problem)
    machine = np.full(count, -1, dtype=np.int64)
    start, end, tail = np.zeros(count), np.zeros(count), np.zeros(cores)
    order, chosen, extra = readonly(
        order,
        np.full(count, -1, dtype=np.int64) if pinned is None else pinned,
        np.zeros((0, 0)) if bias is None else bias,
    )
    recent = tuple(np.full(cores, -1.0) for _ in range(3))
    rows, used = np.full((cores, 16), -1, dtype=np.int32), 0
    gaps = (
        np.zeros(cores, dtype=np.int64), np.zeros(blocks, dtype=np.int64),
        np.empty((blocks, BLOCK)), np.empty((blocks, BLOCK)), np.full(blocks, -1.0),
    )  # fmt: skip
    step, place = max(1, SLICE // (cores + len(dag.source) // count + 1)), 0
    with control.reserving(SECONDS_APPENDED * (count + len(dag.source))):
        while place < count and not control.expired():
            rows, used = insert_some(
                order[place : place + step], chosen, extra, aim == "start", *read,
                problem.network.routing.is_uniform,  # type: ignore[call-arg]
                machine, start, end, tail, *recent, rows, *gaps, used,
            )  # fmt: skip
            place += step
    if place < count and control.incumbent is not None:
        return in_time(problem, control)
    if place < count:
        append_some(order[place:], chosen, *read, machine, start, end, tail)  # type: ignore[call-arg]
    return planned(problem, machine, start, end)
