"""The level algorithm, the optimum with preemption on identical and uniform machines."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.independent.needs import PREEMPTION, SAME_ORDER
from makespan.independent.placing.composite import composed
from makespan.independent.placing.pieces import cut
from makespan.independent.problem import IndependentTasks

ROUNDING = 1e-11


@register(
    "independent",
    name="level-algorithm",
    needs=(PREEMPTION, SAME_ORDER),
    proves="as much as can be is done of the longest tasks until the last release; what is left "
    "takes the least time, that of k tasks on the k fastest machines or of all",
    complexity="O(n log n + n m), at most 2 (m - 1) cuts; that for each release",
    source="Horvath, Lam and Sethi 1977; the pieces by Gonzalez and Sahni 1978; with releases: "
    "Labetoulle, Lawler, Lenstra and Rinnooy Kan 1984",
)
def level_algorithm(problem: IndependentTasks, control: Control) -> Solution:
    """The tasks with most work left on the fastest machines, sharing where equal, at any time."""
    count = problem.machine_count if problem.speeds is not None else problem.useful_machines
    speeds = np.ones(count) if problem.speeds is None else problem.speeds
    order = np.argsort(-speeds, kind="stable")
    left, pieces = problem.durations.copy(), []
    release = np.zeros(len(left)) if problem.release is None else problem.release
    release = np.where(left > 0, release, 0.0)
    times = np.unique(release).tolist() or [0.0]
    start, finished = 0.0, True
    for start, until in zip(times, [*times[1:], None], strict=True):
        if until is not None and control.expired():
            finished = False
            continue
        tasks = np.flatnonzero((release <= start) & (left > 0))
        tasks = tasks[np.argsort(-left[tasks], kind="stable")]
        length = needed(left[tasks], speeds[order]) if until is None else until - start
        after = np.zeros(len(tasks))
        if until is not None:
            after = worked_off(left[tasks], speeds[order], length)
        work = left[tasks] - after
        left[tasks] = after
        most = np.argsort(-work, kind="stable")
        most = most[work[most] > 0]
        shared = list(zip(tasks[most].tolist(), work[most].tolist(), strict=True))
        pieces += composed(shared, speeds, start, length)
    schedule = cut(problem, pieces)
    makespan = schedule.makespan
    return Solution(
        schedule=schedule,
        lower_bound=makespan * (1 - ROUNDING) if finished else None,
        optimal=finished,
    )


def needed(work: Floats, speeds: Floats) -> float:
    """Return the least time in which machines do the work of tasks that may be cut.

    ``work`` and ``speeds`` have the most first. Complexity: O(n + m).
    Source: Horvath, Lam and Sethi 1977.
    """
    few = min(len(work), len(speeds))
    if not few:
        return 0.0
    most = np.cumsum(work[:few]) / np.cumsum(speeds[:few])
    return float(max(most.max(), work.sum() / speeds.sum()))


def worked_off(work: Floats, speeds: Floats, length: float) -> Floats:
    """Return what is left of ``work``, the most first, after so many seconds of the algorithm.

    Complexity: O(n) events of O(m).
    """
    values, counts = np.unique(-work, return_counts=True)
    levels = [list(each) for each in zip((-values).tolist(), counts.tolist(), strict=True)]
    running = np.concatenate([[0.0], np.cumsum(speeds)])
    left = length
    while left > 0 and levels:
        rates, used = [], 0
        for _, count in levels:
            upto = min(used + count, len(speeds))
            rates.append(float(running[upto] - running[used]) / count)
            used = upto
            if used == len(speeds):
                break
        step, meets = left, -1
        for at, rate in enumerate(rates):
            slower = rates[at + 1] if at + 1 < len(rates) else 0.0
            gap = levels[at][0] - (levels[at + 1][0] if at + 1 < len(levels) else 0.0)
            if rate > slower and gap <= step * (rate - slower):
                step, meets = gap / (rate - slower), at
        for at, rate in enumerate(rates):
            levels[at][0] -= rate * step
        left -= step
        if meets >= 0:
            _, count = levels.pop(meets)
            if meets < len(levels):  # the next has the level now, else there is none left
                levels[meets][1] += count
    rest = np.repeat([level for level, _ in levels], [count for _, count in levels])
    return np.concatenate([rest, np.zeros(len(work) - len(rest))])
