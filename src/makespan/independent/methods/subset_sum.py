"""Two machines at a time, shared out evenly by subset sums."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.registry import register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.independent.bounds import best_bound
from makespan.independent.needs import IN_ONE_PIECE, useful_machines
from makespan.independent.placing.greedy import first_plan
from makespan.independent.problem import IndependentTasks
from makespan.independent.timing import scheduled

HALF = 12
"""Of so many tasks all subsets are listed; twice as many are shared out anew."""
MAX_MACHINES = 1_000
FRUITLESS = 3
"""Times that the longest machine is tried with every other before the search ends."""
GAIN, CLOSE = 0.01, 1e-9
"""The share of what the longest machine has to lose that is worth a change, and that is not."""


@register(
    "independent",
    name="subset-sum",
    needs=IN_ONE_PIECE,
    reach=(useful_machines(MAX_MACHINES),),
    proves="a bound is met to within 1e-9",
    complexity="O(2^(k/2)) for a pair of machines with k tasks, k up to 24",
    source="Haouari, Gharbi and Jemmali 2006 (problems of two machines, one after another); the "
    "subset sums by Horowitz and Sahni 1974",
)
def subset_sum(problem: IndependentTasks, control: Control) -> Solution:
    """Share the tasks of the longest machine and another out as evenly as can be, again, again.

    Another is the shortest that helps; of many tasks, all but 24 stay where they are.
    """
    best = first_plan(problem, control)
    bound = best_bound(problem)
    enough = bound * (1 + CLOSE)
    if not control.expired() and best.makespan > enough:
        plan = _evened(problem, best, enough, control)
        best = min(best, plan, key=lambda schedule: schedule.makespan)
    return Solution(schedule=best, lower_bound=bound, optimal=best.makespan <= enough)


def _evened(
    problem: IndependentTasks, start: Schedule, enough: float, control: Control
) -> Schedule:
    machine, count = np.unique(start.machine, return_inverse=True)[1], problem.useful_machines
    seconds = problem.durations[start.item]
    load = np.bincount(machine, weights=seconds, minlength=count)
    fruitless = 0
    while fruitless < FRUITLESS:
        longest = int(load.argmax())
        least_gain = GAIN * (load[longest] - enough)
        fruitless += 1
        for other in np.argsort(load, kind="stable")[:-1].tolist():
            if load[longest] <= enough or control.expired():
                return scheduled(problem, start.item, seconds, machine)
            rows = np.flatnonzero((machine == longest) | (machine == other))
            free = control.rng.permutation(rows)[: 2 * HALF]
            stay = np.setdiff1d(rows[machine[rows] == longest], free)
            half = float(seconds[rows].sum()) / 2 - float(seconds[stay].sum())
            takes = np.concatenate([stay, free[_nearest(seconds[free], half)]])
            loads = float(seconds[takes].sum()), float(seconds[np.setdiff1d(rows, takes)].sum())
            if max(loads) <= load[longest] - least_gain:
                machine[rows] = other
                machine[takes] = longest
                load[longest], load[other] = loads
                fruitless = 0
                break
    return scheduled(problem, start.item, seconds, machine)


def _nearest(seconds: Floats, target: float) -> Integers:
    """Return the places of a subset whose sum is nearest to ``target``."""
    middle = len(seconds) // 2
    left, right = _sums(seconds[:middle]), _sums(seconds[middle:])
    order = np.argsort(left, kind="stable")
    above = np.searchsorted(left[order], target - right)
    near = np.stack([np.maximum(above - 1, 0), np.minimum(above, len(left) - 1)])
    off = np.abs(left[order][near] + right - target)
    side, of_right = np.unravel_index(int(off.argmin()), off.shape)
    chosen = int(order[near[side, of_right]]) | int(of_right) << middle
    return np.array([at for at in range(len(seconds)) if chosen >> at & 1], dtype=np.int64)


def _sums(seconds: Floats) -> Floats:
    """Return the sums of all subsets, numbered by their bits."""
    sums = np.zeros(1)
    for each in seconds.tolist():
        sums = np.concatenate([sums, sums + each])
    return sums
