"""Earliest task first: the ready task and the machine that can start first."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.taskgraph.levels import levels, weights
from makespan.taskgraph.needs import NO_GIVEN_PLAN, QUICKLY_TRIED
from makespan.taskgraph.placing.pairs import Rule, best_pairs
from makespan.taskgraph.problem import TaskGraph


@register(
    "taskgraph",
    name="etf",
    needs=(NO_GIVEN_PLAN,),
    reach=(QUICKLY_TRIED,),
    complexity="O(n w + e m), w the widest queue of ready tasks; times m under contention",
    source="Hwang, Chow, Anger and Lee 1989",
)
def etf(problem: TaskGraph, control: Control) -> Solution:
    """Of all ready tasks on all machines, the pair that can start first is next.

    Ties go to the task of higher static level: the longest path to an exit task in mean durations,
    without communication.
    """
    task, edge = weights(problem)
    level = levels(problem.dag, task, np.zeros(len(edge)))
    rule = Rule(counts_seconds=False, bias=np.zeros(len(level)), level=level)
    return Solution(schedule=best_pairs(problem, control, rule))
