"""The rule behind list scheduling and LPT: the next task goes to the machine that is free first."""

from __future__ import annotations

import heapq

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers, readonly
from makespan.core.numeric.jit import loop
from makespan.core.numeric.sorting import sorted_by
from makespan.core.schedule import Schedule
from makespan.independent.problem import IndependentTasks
from makespan.independent.timing import scheduled

SLICE = 1 << 20
"""Tasks of one call of the compiled loop."""


def greedy(problem: IndependentTasks, tasks: Integers, seconds: Floats) -> Schedule:
    """Start ``tasks`` in this order, each on the machine that is free first (lowest on ties).

    ``seconds`` are their durations. Tasks of duration 0 are left out: they take no machine's time.
    Where there are releases, the first of the tasks that are there is next.

    Complexity: O(n log m).
    """
    if problem.release is not None:
        return _as_released(problem, problem.release, tasks)
    if not seconds.all():
        tasks, seconds = tasks[seconds > 0], seconds[seconds > 0]
    if hand_out.pays(len(tasks)):
        at_once, alike = np.zeros(problem.useful_machines), np.ones(problem.useful_machines)
        return scheduled(problem, tasks, seconds, handed_out(seconds, alike, at_once))
    free = [(0.0, machine) for machine in range(problem.useful_machines)]
    chosen = []
    for duration in seconds.tolist():
        time, machine = free[0]
        chosen.append(machine)
        heapq.heapreplace(free, (time + duration, machine))
    return scheduled(problem, tasks, seconds, np.array(chosen, dtype=np.int64))


def _as_released(problem: IndependentTasks, release: Floats, tasks: Integers) -> Schedule:
    """Start the first of ``tasks`` that is there when a machine is free; else what comes next."""
    tasks = tasks[(problem.durations[tasks] > 0) | (release[tasks] > 0)]
    coming = np.argsort(release[tasks], kind="stable").tolist()
    times, seconds = release[tasks].tolist(), problem.durations[tasks].tolist()
    free = [(0.0, machine) for machine in range(problem.useful_machines)]
    ready: list[int] = []
    order: list[int] = []
    chosen: list[int] = []
    known = 0
    while len(order) < len(tasks):
        now, machine = free[0]
        if not ready:
            now = max(now, times[coming[known]])
        while known < len(coming) and times[coming[known]] <= now:
            heapq.heappush(ready, coming[known])
            known += 1
        place = heapq.heappop(ready)
        order.append(place)
        chosen.append(machine)
        heapq.heapreplace(free, (now + seconds[place], machine))
    tasks = tasks[np.array(order, dtype=np.int64)]
    return scheduled(problem, tasks, problem.durations[tasks], np.array(chosen, dtype=np.int64))


def handed_out(seconds: Floats, pace: Floats, free: Floats) -> Integers:
    """Return the machine of each task: that which is free first, lowest index on ties.

    ``pace`` are the seconds that each machine takes for one of a task; ``free``, from when on each
    is free. The compiled loop runs in slices, between which signals arrive.
    """
    machines = np.argsort(free, kind="stable")
    heap, chosen = free[machines], np.empty(len(seconds), dtype=np.int64)
    durations, paces = readonly(seconds, pace)
    form = hand_out.at(len(seconds))
    for first in range(0, len(seconds), SLICE):
        last = min(first + SLICE, len(seconds))
        form(durations, paces, heap, machines, chosen, first, last)
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


@loop(pays_from=100_000)  # tasks
def hand_out(seconds, pace, free, machines, chosen, first, last):  # type: ignore[no-untyped-def]
    """Give the tasks from ``first`` up to ``last`` to the machine that is free first.

    ``free`` and ``machines`` are a heap of times and machines, in lexicographic order; they are
    kept between calls.
    """
    size = len(free)
    for task in range(first, last):
        machine = machines[0]
        time = free[0] + seconds[task] * pace[machine]
        chosen[task] = machine
        node = 0
        while True:
            child = 2 * node + 1
            if child >= size:
                break
            other = child + 1
            if other < size and (
                free[other] < free[child]
                or (free[other] == free[child] and machines[other] < machines[child])
            ):
                child = other
            if time < free[child] or (time == free[child] and machine < machines[child]):
                break
            free[node], machines[node] = free[child], machines[child]
            node = child
        free[node], machines[node] = time, machine
