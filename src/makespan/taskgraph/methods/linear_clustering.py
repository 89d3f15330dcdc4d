"""Linear clustering: the longest path becomes a cluster, again and again."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.taskgraph import loops
from makespan.taskgraph.clustering import clustering_of, clustering_seconds
from makespan.taskgraph.in_time import in_time
from makespan.taskgraph.levels import weights
from makespan.taskgraph.mapping import planned
from makespan.taskgraph.needs import NO_GIVEN_PLAN, QUICKLY_TRIED
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.steps import Steps, number


@register(
    "taskgraph",
    name="linear-clustering",
    needs=(NO_GIVEN_PLAN,),
    reach=(QUICKLY_TRIED,),
    complexity="O(c (n + e)), c the clusters",
    source="S. J. Kim and J. C. Browne, A general approach to mapping of parallel computations "
    "upon multiprocessor architectures, ICPP 1988",
)
def linear_clustering(
    problem: TaskGraph, control: Control, *, w1: float | None = None, w2: float | None = None
) -> Solution:
    """The longest path of the tasks that are left becomes a cluster, until none is left.

    Then clusters are merged until there are as few as machines, mapped, and ordered by level.
    Where the time is up, every task that is left is a cluster.
    """
    dag, steps = problem.dag, Steps(control)
    weight = weights(problem, w1, w2)
    with control.reserving(2 * clustering_seconds(dag)):
        if control.expired():
            return Solution(schedule=in_time(problem, control))
        cluster = _linear(problem, control, steps, *weight)
    return planned(problem, control, steps, clustering_of(dag, *weight, cluster), weight)


def _linear(
    problem: TaskGraph, control: Control, steps: Steps, task: Floats, edge: Floats
) -> Integers:
    dag, count = problem.dag, len(problem.dag)
    loop, column = loops.chosen(loops.longest_free_path, count * (count + len(edge)) // 10)
    inputs = tuple(
        map(column, (dag.order, dag.first_out, dag.successors, edge[dag.out_edges], task))
    )
    used, length = column(np.zeros(count, dtype=bool)), column(np.zeros(count))
    following = column(np.full(count, -1))
    cluster = np.arange(count)
    while (first := loop(*inputs, used, length, following)) >= 0 and not control.expired():
        path = []
        each = int(first)
        while each >= 0:
            path.append(each)
            used[each] = True
            each = int(following[each])
        cluster[path] = path[0]
        if steps.wanted:
            names, total = problem.named(path), float(length[first])
            steps.add(
                f"longest path {' '.join(names)} of length {number(total)} becomes a cluster",
                cluster=names, length=total,
            )  # fmt: skip
    return cluster
