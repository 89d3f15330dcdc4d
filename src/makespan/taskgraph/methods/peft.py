"""Predict earliest finish time: HEFT that looks ahead by a table of optimistic costs."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.memory import claim
from makespan.core.registry import register
from makespan.core.result import Solution
from makespan.core.schedule import Floats
from makespan.taskgraph import loops
from makespan.taskgraph.in_time import in_time, must_end
from makespan.taskgraph.levels import ready_by_level, weights
from makespan.taskgraph.needs import NO_GIVEN_PLAN, QUICKLY_INSERTED
from makespan.taskgraph.placing import inserted
from makespan.taskgraph.problem import TaskGraph


@register(
    "taskgraph",
    name="peft",
    needs=(NO_GIVEN_PLAN,),
    reach=(QUICKLY_INSERTED,),
    complexity="O(n log n + (n + e) m), compiled; O(n m g + e m h) under contention",
    source="H. Arabnejad and J. G. Barbosa, List scheduling algorithm for heterogeneous systems by "
    "an optimistic cost table, IEEE TPDS 25(3), 2014",
)
def peft(problem: TaskGraph, control: Control) -> Solution:
    """Each task goes where its end and the optimistic cost of all that follows are least.

    The optimistic cost of a task on a machine is the longest of the shortest ways from it to an
    exit task, each successor on the machine that is best for it alone. Of the ready tasks the one
    with the greatest mean of them goes first.
    """
    if control.incumbent is not None and must_end(problem, control):
        return Solution(schedule=in_time(problem, control))
    pairs = len(problem.dag) * len(problem.network)
    claim(32.0 * pairs, f"the optimistic costs of {pairs:,} pairs of a task and a machine")
    table = optimistic_costs(problem)
    order = ready_by_level(problem.dag, table.mean(axis=1))
    return Solution(schedule=inserted(problem, control, order, bias=table))


def optimistic_costs(problem: TaskGraph) -> Floats:
    """Return the optimistic cost table, shape (tasks, machines).

    Source: Arabnejad and Barbosa 2014, equation 2; communication counts its mean over the pairs
    of different machines.
    """
    dag, machines = problem.dag, len(problem.network)
    _, edge = weights(problem)
    table, ahead = np.zeros(len(dag) * machines), np.zeros(len(dag) * machines)
    loops.run(
        loops.optimistic_costs,
        2 * machines * (len(dag) + len(edge)),
        (dag.order, dag.first_out, dag.successors, edge[dag.out_edges], problem.durations.ravel()),
        (table, ahead),
        (machines,),
    )
    return table.reshape(len(dag), machines)
