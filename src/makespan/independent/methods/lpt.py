"""Longest processing time first."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.independent.needs import IDENTICAL, NO_PREEMPTION
from makespan.independent.placing.greedy import greedy, longest_first
from makespan.independent.placing.steps import log_greedy
from makespan.independent.problem import IndependentTasks


@register(
    "independent",
    name="lpt",
    needs=(
        IDENTICAL,
        NO_PREEMPTION,
    ),
    complexity="O(n log n)",
    source="Graham 1969: at most 4/3 - 1/(3m) times the optimum; with releases 3/2: Chen and "
    "Vestjens 1997",
)
def lpt(problem: IndependentTasks, control: Control) -> Solution:
    """Longest task first, of those that are there, each on the machine that is free first."""
    tasks, seconds = longest_first(problem)
    schedule = greedy(problem, tasks, seconds)
    log_greedy(problem, control, schedule)
    return Solution(schedule=schedule)
