"""Dynamic level scheduling: the ready task and the machine of greatest dynamic level."""

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
    name="dls",
    needs=(NO_GIVEN_PLAN,),
    reach=(QUICKLY_TRIED,),
    complexity="O(n w + e m), w the widest queue of ready tasks; times m under contention",
    source="Sih and Lee 1993",
)
def dls(problem: TaskGraph, control: Control) -> Solution:
    """Of all ready tasks on all machines, the pair of greatest dynamic level is next.

    The dynamic level is the static level (the longest path to an exit task in mean durations,
    without communication), less the time at which data and machine are there, plus what the
    machine is faster than the mean. Ties go to the greater static level.
    """
    mean, edge = weights(problem)
    level = levels(problem.dag, mean, np.zeros(len(edge)))
    rule = Rule(bias=-(level + mean), level=level, shown="dynamic level")
    return Solution(schedule=best_pairs(problem, control, rule))
