"""Modified critical path: by latest possible start, each task where it starts first."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.numeric.sorting import inverse, sorted_by
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.taskgraph.levels import ranks, ready_by_level
from makespan.taskgraph.list_scheduling.insertion import inserted
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.needs import NO_GIVEN_PLAN, QUICKLY_INSERTED
from makespan.taskgraph.problem import TaskGraph


@register(
    "taskgraph",
    name="mcp",
    needs=(NO_GIVEN_PLAN,),
    reach=(QUICKLY_INSERTED,),
    complexity="O((n + e) log n + n m), compiled; O(n m g + e m h) under contention",
    source="Wu and Gajski 1990",
)
def mcp(problem: TaskGraph, control: Control) -> Solution:
    """By rising latest start, each task goes to the machine on which it starts first.

    The latest start of a task is the longest path less its upward rank. Ties go to the task with
    the successor that must start sooner (of the published comparison of all descendants, the first
    step), then to the lowest task.
    """
    dag = problem.dag
    rank = ranks(problem)
    order = sorted_by(-rank, -_most_urgent_successor(dag, rank))
    place = inverse(order)
    if not (place[dag.source] < place[dag.target]).all():
        order = ready_by_level(dag, -place)
    logged = (rank.max() - rank, "latest start", "")
    return Solution(schedule=inserted(problem, control, order, aim="start", logged=logged))


def _most_urgent_successor(dag: Dag, rank: Floats) -> Floats:
    """Return the greatest rank among the successors of each task, -1 for none."""
    found = np.full(len(dag), -1.0)
    np.maximum.at(found, dag.source, rank[dag.target])
    return found
