"""The rule behind list scheduling and LPT: the next task goes to the machine that is free first."""

from __future__ import annotations

import heapq

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers, readonly
from makespan.core.numeric.jit import pays
from makespan.core.numeric.sorting import sorted_by
from makespan.core.schedule import Schedule
from makespan.independent.problem import IndependentTasks
from makespan.independent.timing import MANY, scheduled

SLICE = 1 << 20
"""Tasks of one call of the compiled loop."""


def greedy(problem: IndependentTasks, tasks: Integers, seconds: Floats) -> Schedule:
    """Start ``tasks`` in this order, each on the machine that is free first (lowest on ties).

    ``seconds`` are their durations. Tasks of duration 0 are left out: they take no machine's time.

    Complexity: O(n log m).
    """
    if not seconds.all():
        tasks, seconds = tasks[seconds > 0], seconds[seconds > 0]
    if pays(len(tasks), MANY):
        return scheduled(problem, tasks, seconds, _compiled(seconds, problem.useful_machines))
    free = [(0.0, machine) for machine in range(problem.useful_machines)]
    chosen = []
    for duration in seconds.tolist():
        time, machine = free[0]
        chosen.append(machine)
        heapq.heapreplace(free, (time + duration, machine))
    return scheduled(problem, tasks, seconds, np.array(chosen, dtype=np.int64))


def _compiled(seconds: Floats, machines: int) -> Integers:
    """Return the machine of each task; the loop runs in slices, between which signals arrive."""
    from makespan.independent.kernels import hand_out

    free, heap = np.zeros(machines), np.arange(machines)
    chosen = np.empty(len(seconds), dtype=np.int64)
    (durations,) = readonly(seconds)
    for first in range(0, len(seconds), SLICE):
        hand_out(durations, free, heap, chosen, first, min(first + SLICE, len(seconds)))
    return chosen


def longest_first(problem: IndependentTasks) -> tuple[Integers, Floats]:
    """Return the tasks, longest first, and their durations; of equal ones, lowest index first."""
    order = sorted_by(-problem.durations)
    return order, problem.durations[order]


def first_plan(problem: IndependentTasks, control: Control) -> Schedule:
    """Return what a search starts from: the best plan of earlier methods, else that of LPT."""
    if control.incumbent is not None and control.incumbent.schedule is not None:
        return control.incumbent.schedule
    return greedy(problem, *longest_first(problem))
