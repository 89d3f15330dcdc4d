"""Hu's algorithm: forests of equal tasks without communication."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.taskgraph.levels import by_level, levels
from makespan.taskgraph.needs import (
    EQUAL_DURATIONS,
    FOREST,
    LEAST_MAKESPAN,
    NO_COMMUNICATION,
    NO_GIVEN_PLAN,
    NO_RELEASES,
    SINGLE_CORES,
    few_steps,
)
from makespan.taskgraph.placing.slots import in_slots
from makespan.taskgraph.problem import TaskGraph


@register(
    "taskgraph",
    name="hu",
    needs=(
        NO_GIVEN_PLAN,
        LEAST_MAKESPAN,
        NO_RELEASES,
        SINGLE_CORES,
        EQUAL_DURATIONS,
        NO_COMMUNICATION,
        FOREST,
    ),
    reach=(few_steps(1e6, "tasks", lambda problem: len(problem.dag)),),
    proves="highest level first is optimal for equal tasks in an in-forest (Hu 1961, theorem 1); "
    "an out-forest is one backwards in time",
    complexity="O(n log n)",
    source="Hu 1961",
)
def hu(problem: TaskGraph, control: Control) -> Solution:
    """Highest level first: optimal for forests of equal tasks without communication.

    Copies of tasks would not help: without communication only those that end first are needed.
    """
    dag = problem.dag
    towards_roots = bool((np.diff(dag.first_out) <= 1).all())
    forest = dag if towards_roots else dag.reversed()
    level = levels(forest, np.ones(len(dag)), np.zeros(len(dag.source)))
    order = by_level(forest, level)
    return in_slots(problem, control, forest, order, backwards=not towards_roots)
