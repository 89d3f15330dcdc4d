"""List scheduling: in the given order, and longest processing time first."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.independent.needs import IDENTICAL, NO_PREEMPTION
from makespan.independent.placing.greedy import greedy, longest_first
from makespan.independent.placing.steps import log_greedy
from makespan.independent.problem import IndependentTasks


@register(
    "independent",
    name="list-scheduling",
    needs=(IDENTICAL, NO_PREEMPTION),
    published=True,
    complexity="O(n log m)",
    source="Graham 1966: at most 2 - 1/m times the optimum",
)
def list_scheduling(problem: IndependentTasks, control: Control) -> Solution:
    """Tasks in the given order, as they are there, each on the machine that is free first."""
    tasks = np.arange(len(problem.durations))
    return _in_order(problem, control, tasks, problem.durations)


@register(
    "independent",
    name="lpt",
    needs=(IDENTICAL, NO_PREEMPTION),
    complexity="O(n log n)",
    source="Graham 1969: at most 4/3 - 1/(3m) times the optimum; with releases 3/2: Chen and "
    "Vestjens 1997",
)
def lpt(problem: IndependentTasks, control: Control) -> Solution:
    """Longest task first, of those that are there, each on the machine that is free first."""
    return _in_order(problem, control, *longest_first(problem))


def _in_order(
    problem: IndependentTasks, control: Control, tasks: Integers, seconds: Floats
) -> Solution:
    schedule = greedy(problem, tasks, seconds)
    log_greedy(problem, control, schedule)
    return Solution(schedule=schedule)
