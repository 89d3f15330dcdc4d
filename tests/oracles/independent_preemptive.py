"""The least makespan of tasks that may be cut, by theorems in fractions and a linear programme."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from makespan import IndependentTasks

PROGRAMME = Fraction(1, 10**8)
"""How near the linear programme is, relative to its value."""


def least_makespan(problem: IndependentTasks) -> tuple[Fraction, Fraction]:
    """Return the least makespan, and how far, relative to it, that may be off."""
    if problem.release is None and problem.durations.ndim == 1:
        return _on_ordered_machines(problem), Fraction(0)
    return Fraction(_programme(problem)), PROGRAMME


def _on_ordered_machines(problem: IndependentTasks) -> Fraction:
    """Return the most of k tasks on the k fastest machines, and of all on all."""
    work = sorted((Fraction(each) for each in problem.durations.tolist()), reverse=True)
    speeds = [Fraction(1)] * min(problem.machine_count, len(work) + 1)
    if problem.speeds is not None:
        speeds = sorted((Fraction(each) for each in problem.speeds.tolist()), reverse=True)
    total = sum(speeds) if problem.speeds is not None else Fraction(problem.machine_count)
    found = sum(work, Fraction(0)) / total
    for count in range(1, min(len(work), len(speeds)) + 1):
        found = max(found, sum(work[:count]) / sum(speeds[:count]))
    return found


def _programme(problem: IndependentTasks) -> float:
    """Return the optimum of Lawler and Labetoulle's programme: the share of each task that each
    machine does from each release to the next, and how long it goes on after the last.
    """
    from scipy.optimize import linprog

    table = problem.table
    release = np.zeros(len(table)) if problem.release is None else problem.release
    takes_time = table.min(axis=1, initial=np.inf) > 0
    end = float(release.max(initial=0.0))
    table, release = table[takes_time], release[takes_time]
    if not len(table):
        return end
    unit = max(float(table.min(axis=1).max()), float(release.max()))
    times = sorted(set(release.tolist()))
    shape = (len(times), *table.shape)
    costs, limits = np.zeros(int(np.prod(shape)) + 1), []
    costs[-1] = 1
    rooms = []
    for at, time in enumerate(times):
        seconds = np.where(np.isfinite(table), table, 0.0) / unit
        for axis in (0, 1):
            for index in range(table.shape[axis]):
                row = np.zeros(shape)
                which = (index, slice(None)) if axis == 0 else (slice(None), index)
                row[at][which] = seconds[which]
                last = at + 1 == len(times)
                limits.append([*row.ravel(), -1.0 if last else 0.0])
                rooms.append(0.0 if last else (times[at + 1] - time) / unit)
    needs = []
    for task in range(len(table)):
        row = np.zeros(shape)
        row[:, task] = 1
        needs.append([*row.ravel(), 0.0])
    there = np.isfinite(table)[None] & (release[None, :, None] <= np.array(times)[:, None, None])
    borders = [(0, 1 if each else 0) for each in there.ravel()] + [(0, None)]
    found = linprog(
        costs, A_ub=limits, b_ub=rooms, A_eq=needs, b_eq=np.ones(len(needs)), bounds=borders
    )
    assert found.success
    return max(end, times[-1] + float(found.fun) * unit)
