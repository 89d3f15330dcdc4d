"""A plan that is there at once, for methods whose time is up."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.schedule import Schedule
from makespan.taskgraph.insertion import in_order
from makespan.taskgraph.levels import by_level, levels, weights
from makespan.taskgraph.problem import TaskGraph

SECONDS_BEHIND = 3e-7
"""What a task or an edge takes afterwards: its row, its timing, its check."""


def must_end(problem: TaskGraph, control: Control) -> bool:
    """Whether only the time is left that it takes to time and check a plan."""
    left = control.remaining
    behind = SECONDS_BEHIND * (len(problem.dag) + len(problem.dag.source))
    return control.expired() or (left is not None and left < behind)


def in_time(problem: TaskGraph, control: Control) -> Schedule:
    """Return the best plan known, or else everything on one machine.

    Complexity: O(n log n + e), compiled for large graphs.
    """
    if control.incumbent is not None and control.incumbent.schedule is not None:
        return control.incumbent.schedule
    return on_one_machine(problem)


def on_one_machine(problem: TaskGraph) -> Schedule:
    """Return the plan that has everything on the machine on which that ends soonest."""
    dag, network = problem.dag, problem.network
    total = dag.work.sum() / network.speed + len(dag) * network.task_setup
    if len(dag.own):
        plain = np.ones(len(dag), dtype=bool)
        plain[dag.own] = False
        total = dag.work[plain].sum() / network.speed + plain.sum() * network.task_setup
        total = total + dag.durations.sum(axis=0)
    machine = int(np.argmin(total / problem.cores))
    place = np.empty(len(dag), dtype=np.int64)
    place[by_level(dag, levels(dag, *weights(problem, w2=0.0)))] = np.arange(len(dag))
    return in_order(problem, np.full(len(dag), machine), place)
