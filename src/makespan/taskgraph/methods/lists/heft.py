"""Heterogeneous earliest finish time: by upward rank, each task where it ends first."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.taskgraph.levels import by_level, ranks
from makespan.taskgraph.list_scheduling.insertion import inserted
from makespan.taskgraph.needs import NO_GIVEN_PLAN
from makespan.taskgraph.problem import TaskGraph


@register(
    "taskgraph",
    name="heft",
    needs=(NO_GIVEN_PLAN,),
    complexity="O((n + e) log n + n m), compiled; O(n m g + e m h) under contention",
    source="Topcuoglu, Hariri and Wu 2002",
)
def heft(
    problem: TaskGraph, control: Control, *, w1: float | None = None, w2: float | None = None
) -> Solution:
    """By falling upward rank, each task goes to the machine on which it ends first.

    Tasks are inserted into the first gap that is long enough, under contention transfers too. The
    upward rank is the level: the longest path to an exit task, in mean seconds over the machines
    and over the pairs of different machines. Ties of ranks go to the lowest task, ties of machines
    to the lowest machine.

    Parameters
    ----------
    w1, w2
        Weights of work and of data on a path; None: mean seconds.
    """
    rank = ranks(problem, w1, w2)
    order = by_level(problem.dag, rank)
    return Solution(schedule=inserted(problem, control, order, logged=(rank, "rank", "")))
