"""Critical path on a processor: the critical path on one machine, the rest by earliest end."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.result import Solution
from makespan.core.schedule import Floats
from makespan.taskgraph.levels import colevels, levels, ready_by_level, weights
from makespan.taskgraph.needs import NO_GIVEN_PLAN, QUICKLY_INSERTED
from makespan.taskgraph.placing import inserted
from makespan.taskgraph.problem import TaskGraph

TIE = 1e-9


@register(
    "taskgraph",
    name="cpop",
    needs=(NO_GIVEN_PLAN,),
    reach=(QUICKLY_INSERTED,),
    complexity="O((n + e) log n + n m), compiled; O(n m g + e m h) under contention",
    source="H. Topcuoglu, S. Hariri and M.-Y. Wu, Performance-effective and low-complexity task "
    "scheduling for heterogeneous computing, IEEE TPDS 13(3), 2002",
)
def cpop(problem: TaskGraph, control: Control) -> Solution:
    """Puts a critical path on the machine that executes it first, other tasks where they end first.

    Of the ready tasks the one with the longest path through it goes first: upward rank and
    downward rank together. Means are those of ``heft``; a task's own time counts once.
    """
    dag = problem.dag
    task, edge = weights(problem)
    through = levels(dag, task, edge) + (colevels(dag, task, edge) - task)
    path = critical_path(problem, through)
    machine = int(np.argmin(problem.durations_of(path).sum(axis=0)))
    pinned = np.full(len(dag), -1, dtype=np.int64)
    pinned[path] = machine
    schedule = inserted(problem, control, ready_by_level(dag, through), pinned=pinned)
    return Solution(
        schedule=schedule,
        details={"critical_path": problem.named(path), "machine": problem.machines[machine]},
    )


def critical_path(problem: TaskGraph, through: Floats) -> list[int]:
    """Return the lowest of the longest paths, given the longest path through each task."""
    dag = problem.dag
    longest = float(through.max())
    entries = np.flatnonzero((np.diff(dag.first_in) == 0) & (through >= longest * (1 - TIE)))
    path = [int(entries[0])]
    while True:
        ahead = dag.successors[dag.first_out[path[-1]] : dag.first_out[path[-1] + 1]]
        on = ahead[through[ahead] >= longest * (1 - TIE)]
        if not len(on):
            return path
        path.append(int(on.min()))
