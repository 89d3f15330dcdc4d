"""The machine of each task → the schedule, and the programme of all assignments, where machines
differ.
"""

from __future__ import annotations

import numpy as np

from makespan.backends.highs import Programme
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Schedule
from makespan.independent.bounds import grain
from makespan.independent.problem import IndependentTasks
from makespan.independent.timing import scheduled

LEAST_GRAIN = 1e-8
"""The least share of a makespan that steps between makespans are believed to be."""


def assigned(
    problem: IndependentTasks, machine: Integers, order: Integers | None = None
) -> Schedule:
    """Return the schedule that runs each task on its machine, started in this order.

    None is the order of releases, which no other beats.
    Tasks that take no time there are left out, but for those that are released later.
    """
    tasks = problem.by_release if order is None else order
    on = machine[tasks]
    seconds = problem.seconds_on(tasks, on)
    some = seconds > 0
    if problem.release is not None:
        some |= problem.release[tasks] > 0
    return scheduled(problem, tasks[some], seconds[some], on[some])


def first_machines(problem: IndependentTasks, control: Control) -> Integers:
    """Return the machine of each task in the best plan so far, else the fastest of each."""
    machine: Integers = problem.table.argmin(axis=1)
    if control.incumbent is not None and control.incumbent.schedule is not None:
        plan = control.incumbent.schedule
        machine[plan.item] = plan.machine
    return machine


def below(problem: IndependentTasks, makespan: float) -> float:
    """Return what a plan that is shorter than another lasts at most."""
    unit = grain(problem)
    return makespan - unit if unit is not None and unit >= LEAST_GRAIN * makespan else makespan


def assignments(
    table: Floats, longest: float, *, integer: bool, release: Floats | None = None
) -> tuple[Programme, Integers, Integers]:
    """Return the programme of the least end of the longest machine.

    No task is on a machine where it takes more than ``longest``. With it, the task and the machine
    of the first variables. That end is the variable behind them, and where there are releases,
    what machines have to do after each, the first machine's first.
    """
    task, machine = np.nonzero(table <= longest)
    programme = Programme()
    share = np.full(table.shape, -1)
    share[task, machine] = programme.variables(len(task), upper=1.0, integer=integer)
    load = programme.variables(1, cost=1.0)
    programme.rows(share, 1.0, low=1.0, high=1.0)
    machines = table.shape[1]
    if release is None:
        programme.rows(
            np.column_stack([share.T, np.repeat(load, machines)]),
            np.column_stack([table.T, np.full(machines, -1.0)]),
            high=0.0,
        )
        return programme, task, machine
    times = np.unique(release)
    for one in range(machines):
        left = programme.variables(len(times))
        for at, time in enumerate(times.tolist()):
            here = np.flatnonzero((release == time) & (share[:, one] >= 0))
            after = left[at + 1 : at + 2]
            programme.row(
                np.concatenate([share[here, one], after, left[[at]]]),
                np.concatenate([table[here, one], np.ones(len(after)), [-1.0]]),
                high=0.0,
            )
            programme.row([left[at], load[0]], [1.0, -1.0], high=-time)
    return programme, task, machine


def left_after(problem: IndependentTasks, machine: Integers) -> Floats:
    """Return what each machine (row) has to do of tasks released from each time (column) on.

    The times are those of :func:`assignments`.
    """
    assert problem.release is not None
    times, at = np.unique(problem.release, return_inverse=True)
    left = np.zeros((problem.machine_count, len(times)))
    np.add.at(left, (machine, at), problem.seconds_on(np.arange(len(machine)), machine))
    suffix: Floats = left[:, ::-1].cumsum(axis=1)[:, ::-1]
    return suffix
