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

    Tasks that take no time there are left out.
    """
    tasks = np.arange(len(problem.durations)) if order is None else order
    on = machine[tasks]
    if problem.speeds is not None:
        seconds = problem.durations[tasks] / problem.speeds[on]
    else:
        seconds = problem.durations[tasks, on]
    some = seconds > 0
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
    table: Floats, longest: float, *, integer: bool
) -> tuple[Programme, Integers, Integers]:
    """Return the programme of the least load of the longest machine.

    No task is on a machine where it takes more than ``longest``. With it, the task and the machine
    of each variable but the last, which is that load.
    """
    task, machine = np.nonzero(table <= longest)
    programme = Programme()
    share = np.full(table.shape, -1)
    share[task, machine] = programme.variables(len(task), upper=1.0, integer=integer)
    load = programme.variables(1, cost=1.0)
    programme.rows(share, 1.0, low=1.0, high=1.0)
    machines = table.shape[1]
    programme.rows(
        np.column_stack([share.T, np.repeat(load, machines)]),
        np.column_stack([table.T, np.full(machines, -1.0)]),
        high=0.0,
    )
    return programme, task, machine
