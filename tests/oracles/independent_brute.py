"""Slow, obvious answers for independent tasks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def least_makespan(machines: int, durations: Sequence[float]) -> float:
    """Try every assignment (machines are alike: a task opens at most one new machine)."""

    def best(task: int, loads: tuple[float, ...]) -> float:
        if task == len(durations):
            return max(loads, default=0.0)
        options = [
            best(task + 1, (*loads[:i], loads[i] + durations[task], *loads[i + 1 :]))
            for i in range(len(loads))
        ]
        if len(loads) < machines:
            options.append(best(task + 1, (*loads, durations[task])))
        return min(options)

    return best(0, ())


def greedy_loads(machines: int, durations: Sequence[float]) -> list[float]:
    """Give each task, in order, to the machine with the least load, the first of them on ties."""
    loads = [0.0] * machines
    for seconds in durations:
        loads[loads.index(min(loads))] += seconds
    return loads


def least_preemptive_makespan(machines: int, durations: Sequence[float]) -> float:
    """Solve the linear programme of E. L. Lawler and J. Labetoulle (Journal of the ACM 25, 1978).

    ``x[i, j]`` is the time that machine i spends on task j; a plan that ends at T exists iff no
    machine and no task needs more than T.
    """
    from scipy.optimize import linprog

    count = len(durations)
    if not count:
        return 0.0
    shape = (machines, count)
    limits, needs = [], []
    for machine in range(machines):
        row = np.zeros(shape)
        row[machine] = 1
        limits.append([*row.ravel(), -1])
    for task in range(count):
        row = np.zeros(shape)
        row[:, task] = 1
        limits.append([*row.ravel(), -1])
        needs.append([*row.ravel(), 0])
    cost = np.zeros(machines * count + 1)
    cost[-1] = 1
    found = linprog(cost, A_ub=limits, b_ub=np.zeros(len(limits)), A_eq=needs, b_eq=durations)
    return float(found.fun)


def first_fit_bins(durations: Sequence[float], machines: int, capacity: float) -> list[int] | None:
    """Place each task on the first machine whose tasks leave room for it."""
    room = [capacity] * machines
    placed = []
    for seconds in durations:
        fitting = [machine for machine in range(machines) if seconds <= room[machine]]
        if not fitting:
            return None
        room[fitting[0]] -= seconds
        placed.append(fitting[0])
    return placed
