"""List scheduling in the given order."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.independent.needs import IDENTICAL, NO_PREEMPTION
from makespan.independent.placing.greedy import greedy
from makespan.independent.placing.steps import log_greedy
from makespan.independent.problem import IndependentTasks


@register(
    "independent",
    name="list-scheduling",
    needs=(
        IDENTICAL,
        NO_PREEMPTION,
    ),
    published=True,
    complexity="O(n log m)",
    source="Graham 1966: at most 2 - 1/m times the optimum",
)
def list_scheduling(problem: IndependentTasks, control: Control) -> Solution:
    """Tasks in the given order, as they are there, each on the machine that is free first."""
    tasks = np.arange(len(problem.durations))
    schedule = greedy(problem, tasks, problem.durations)
    log_greedy(problem, control, schedule)
    return Solution(schedule=schedule)
