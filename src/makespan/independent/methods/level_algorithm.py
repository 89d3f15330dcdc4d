"""The level algorithm, the optimum with preemption on identical and uniform machines."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.independent.needs import PREEMPTION, SAME_ORDER
from makespan.independent.placing.composite import composed
from makespan.independent.placing.levels import needed, worked_off
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
