"""Everything on one machine: what parallel plans must beat."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.taskgraph.list_scheduling.fallback import on_one_machine
from makespan.taskgraph.needs import NO_GIVEN_PLAN
from makespan.taskgraph.problem import TaskGraph


@register(
    "taskgraph",
    name="single-machine",
    needs=(NO_GIVEN_PLAN,),
    complexity="O(n (log n + m) + e)",
    source="the sum of durations over the cores; shorter than what list scheduling gives where "
    "data are large",
)
def single_machine(problem: TaskGraph, control: Control) -> Solution:
    """Puts all tasks on the machine that executes them soonest: there data are free."""
    return Solution(schedule=on_one_machine(problem))
