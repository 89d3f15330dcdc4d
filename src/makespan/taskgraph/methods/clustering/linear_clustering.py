"""Linear clustering: the longest path becomes a cluster, again and again."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.core.steps import Step, number
from makespan.taskgraph.clustering.clusters import clustering_of, clustering_seconds
from makespan.taskgraph.clustering.mapping import planned
from makespan.taskgraph.levels import weights
from makespan.taskgraph.list_scheduling.fallback import fallback_plan
from makespan.taskgraph.list_scheduling.steps import Steps
from makespan.taskgraph.model.loops import graph_loop
from makespan.taskgraph.needs import NO_GIVEN_PLAN, QUICKLY_TRIED, SINGLE_CORES
from makespan.taskgraph.problem import TaskGraph


@register(
    "taskgraph",
    name="linear-clustering",
    needs=(NO_GIVEN_PLAN, SINGLE_CORES),
    reach=(QUICKLY_TRIED,),
    complexity="O(c (n + e)), c the clusters",
    source="Kim and Browne 1988",
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
            return Solution(schedule=fallback_plan(problem, control))
        cluster = _linear(problem, control, steps, *weight)
    return planned(problem, control, steps, clustering_of(dag, *weight, cluster), weight)


def _linear(
    problem: TaskGraph, control: Control, steps: Steps, task: Floats, edge: Floats
) -> Integers:
    dag, count = problem.dag, len(problem.dag)
    loop, column = longest_free_path.chosen(count * (count + len(edge)) // 10)
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
            text = f"longest path {' '.join(names)} of length {number(total)} becomes a cluster"
            inside = np.flatnonzero(np.isin(dag.source, path) & np.isin(dag.target, path))
            steps.add(
                Step(
                    text=text,
                    cells={"cluster": " ".join(names), "length": total},
                    items={"dominant": path},
                    edges={"zeroed": inside.tolist()},
                    groups=dict.fromkeys(path, path[0]),
                    values={"longest path": total},
                ),
                cluster=names, length=total,
            )  # fmt: skip
    return cluster


@graph_loop
def longest_free_path(  # type: ignore[no-untyped-def]
    topological_order, first_out, successors, out_weight, task_weight, used, length, following,
):  # fmt: skip
    """Return where the longest path over tasks that are not ``used`` begins; -1 for none.

    ``following`` holds the next task of the path, -1 at its end. Ties go to the lowest task.
    """
    best = -1
    for index in range(len(topological_order) - 1, -1, -1):
        task = topological_order[index]
        if used[task]:
            continue
        longest = 0.0
        following[task] = -1
        for position in range(first_out[task], first_out[task + 1]):
            successor = successors[position]
            if used[successor]:
                continue
            ahead = out_weight[position] + length[successor]
            if (
                following[task] < 0
                or ahead > longest
                or (ahead == longest and successor < following[task])
            ):
                longest = ahead
                following[task] = successor
        length[task] = task_weight[task] + longest
        if (
            best < 0
            or length[task] > length[best]
            or (length[task] == length[best] and task < best)
        ):
            best = task
    return best
