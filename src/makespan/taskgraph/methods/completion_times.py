"""Rules that look at when each machine would start or end ready tasks: MCT, MinMin, ETF and kin."""

from __future__ import annotations

from functools import partial

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.sorting import inverse
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.taskgraph.levels import levels, weights
from makespan.taskgraph.list_scheduling.insertion import inserted
from makespan.taskgraph.list_scheduling.pairs import GREATEST, LEAST, SUFFERS, Rule, best_pairs
from makespan.taskgraph.needs import by_insertion, by_tries
from makespan.taskgraph.problem import TaskGraph

by_rule = partial(
    by_tries,
    complexity="O(n w + e m), w the widest queue of ready tasks, compiled; times m where "
    "transfers wait",
)
SOURCE = "Ibarra and Kim 1977; Maheswaran et al. 1999; for task graphs Blythe et al. 2005"


@by_insertion(
    name="mct",
    published=True,
    complexity="O(n m + e), compiled; O(n m g + e m h) under contention",
    source="Ibarra and Kim 1977 (algorithm D); Maheswaran et al. 1999: minimum completion time",
)
def mct(problem: TaskGraph, control: Control) -> Solution:
    """Tasks in the order in which they become ready, each on the machine that ends it first.

    They are inserted into the first gap that is long enough.
    """
    order = problem.dag.order
    place = (1 + inverse(order)).astype(float)
    return Solution(schedule=inserted(problem, control, order, logged=(place, "place", "")))


@by_rule(name="min-min", published=True, source=SOURCE)
def min_min(problem: TaskGraph, control: Control) -> Solution:
    """Of all ready tasks, next the one that can end first, on the machine that ends it first."""
    return Solution(schedule=_by_ends(problem, control, LEAST))


@by_rule(name="max-min", published=True, source=SOURCE)
def max_min(problem: TaskGraph, control: Control) -> Solution:
    """Of all ready tasks, next the one whose earliest end is latest, on the machine of that end."""
    return Solution(schedule=_by_ends(problem, control, GREATEST))


@by_rule(name="duplex", published=True, source="Braun et al. 2001")
def duplex(problem: TaskGraph, control: Control) -> Solution:
    """The better of the plans of ``min-min`` and ``max-min``."""
    plans = [_by_ends(problem, control, chooses) for chooses in (LEAST, GREATEST)]
    return Solution(schedule=min(plans, key=lambda plan: plan.makespan))


@by_rule(name="sufferage", source="Maheswaran et al. 1999, one task at a time")
def sufferage(problem: TaskGraph, control: Control) -> Solution:
    """Next the ready task that would lose most by its second-best machine, on its best."""
    return Solution(schedule=_by_ends(problem, control, SUFFERS))


@by_rule(name="dls", published=True, source="Sih and Lee 1993")
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


@by_rule(name="etf", source="Hwang, Chow, Anger and Lee 1989")
def etf(problem: TaskGraph, control: Control) -> Solution:
    """Of all ready tasks on all machines, the pair that can start first is next.

    Ties go to the task of higher static level: the longest path to an exit task in mean durations,
    without communication.
    """
    task, edge = weights(problem)
    level = levels(problem.dag, task, np.zeros(len(edge)))
    rule = Rule(counts_seconds=False, bias=np.zeros(len(level)), level=level)
    return Solution(schedule=best_pairs(problem, control, rule))


def _by_ends(problem: TaskGraph, control: Control, chooses: int) -> Schedule:
    """Return the plan of a rule over ends; ties go to the longest path to an exit task."""
    level = levels(problem.dag, *weights(problem))
    return best_pairs(
        problem, control, Rule(chooses=chooses, bias=np.zeros(len(level)), level=level)
    )
