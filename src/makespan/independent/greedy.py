"""The rule behind list scheduling and LPT: the next task goes to the machine that is free first."""

from __future__ import annotations

import heapq

import numpy as np

from makespan.core.control import Control
from makespan.core.schedule import Floats, Integers, Schedule
from makespan.independent.problem import IndependentTasks
from makespan.independent.timing import MANY, scheduled

FEW = 1000
SLICE = 1 << 20
"""Tasks of one call of the compiled loop."""


def greedy(problem: IndependentTasks, tasks: Integers) -> Schedule:
    """Start ``tasks`` in this order, each on the machine that is free first (lowest on ties).

    Tasks of duration 0 are left out: they take no machine's time.

    Complexity: O(n log m).
    """
    seconds = problem.durations[tasks]
    if not seconds.all():
        tasks = tasks[seconds > 0]
        seconds = problem.durations[tasks]
    if len(tasks) >= MANY:
        return scheduled(problem, tasks, _compiled(seconds, problem.useful_machines))
    free = [(0.0, machine) for machine in range(problem.useful_machines)]
    chosen = []
    for duration in seconds.tolist():
        time, machine = free[0]
        chosen.append(machine)
        heapq.heapreplace(free, (time + duration, machine))
    return scheduled(problem, tasks, np.array(chosen, dtype=np.int64))


def _compiled(seconds: Floats, machines: int) -> Integers:
    """Return the machine of each task; the loop runs in slices, between which signals arrive."""
    from makespan.independent.kernels import hand_out

    free, heap = np.zeros(machines), np.arange(machines)
    chosen = np.empty(len(seconds), dtype=np.int64)
    for first in range(0, len(seconds), SLICE):
        hand_out(seconds, free, heap, chosen, first, min(first + SLICE, len(seconds)))
    return chosen


def by_decreasing_duration(problem: IndependentTasks) -> Integers:
    """Return the tasks, longest first; of equal ones, lowest index first."""
    keys = -problem.durations
    if len(np.unique(keys[:FEW])) == len(keys[:FEW]):
        order = np.argsort(keys)  # three times as quick, and the same where no two are equal
        ranked = keys[order]
        if not (ranked[1:] == ranked[:-1]).any():
            return order
    return np.argsort(keys, kind="stable")


def first_plan(problem: IndependentTasks, control: Control) -> Schedule:
    """Return what a search starts from: the best plan of earlier methods, else that of LPT."""
    if control.incumbent is not None and control.incumbent.schedule is not None:
        return control.incumbent.schedule
    return greedy(problem, by_decreasing_duration(problem))
