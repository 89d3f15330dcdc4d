"""Clusters by edge zeroing, and linear clusters: the longest path, again and again."""

from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import sorted_by
from makespan.core.solution import Solution
from makespan.core.steps import Step, number
from makespan.taskgraph.clustering import ScheduledGraph, clustering_of, clustering_seconds
from makespan.taskgraph.clustering.mapping import planned
from makespan.taskgraph.levels import weights
from makespan.taskgraph.list_scheduling.assigned import fallback_plan
from makespan.taskgraph.list_scheduling.steps import Steps, braced
from makespan.taskgraph.model.loops import graph_loop
from makespan.taskgraph.needs import NO_GIVEN_PLAN, SINGLE_CORES, by_tries
from makespan.taskgraph.problem import TaskGraph

NOT_GROWN = 1 + 1e-12


@by_tries(
    name="edge-zeroing",
    needs=(NO_GIVEN_PLAN, SINGLE_CORES),
    complexity="O(e (n + e))",
    source="PB165, Shlukování; Sarkar 1989",
)
def edge_zeroing(
    problem: TaskGraph,
    control: Control,
    *,
    levels: str = "zeroed",
    w1: float | None = None,
    w2: float | None = None,
) -> Solution:
    """Zeroes edges, the largest first, where the parallel time does not grow (Sarkar).

    Then clusters are merged until there are as few as machines, mapped, and ordered by level. Ties
    between edges keep the input order, ties between levels go to the lowest task. ``levels``:
    ``"zeroed"``: tasks of a cluster follow one another by the levels of the graph with all edges
    inside clusters zeroed, the merge being tried included (the only reading that gives the
    lecture's trace); ``"original"``: by those of the original graph.
    """
    dag, steps = problem.dag, Steps(control)
    task, edge = weights(problem, w1, w2)
    with control.reserving(2 * clustering_seconds(dag)):
        if control.expired():
            return Solution(schedule=fallback_plan(problem, control))
        graph = ScheduledGraph(dag, task, edge, reading=levels, trials=len(edge))
        _zero(problem, control, steps, graph, edge)
    return planned(problem, control, steps, graph.clustering(), (task, edge))


def _zero(
    problem: TaskGraph, control: Control, steps: Steps, graph: ScheduledGraph, edge: Floats
) -> None:
    """Merge along one edge after another, the heaviest first, until the time is up."""
    dag = problem.dag
    best = graph.parallel_time()
    _log(problem, graph, steps, None, None, best)
    for each in sorted_by(-edge).tolist():
        if control.expired():
            return
        source, target = int(dag.source[each]), int(dag.target[each])
        if graph.cluster[source] == graph.cluster[target]:
            _log(problem, graph, steps, each, "already", best, edge[each])
            continue
        merge = graph.merge(source, target)
        total = graph.parallel_time()
        accepted = total <= best * NOT_GROWN
        _log(problem, graph, steps, each, accepted, total, edge[each])
        if accepted:
            best = total
        else:
            graph.undo(merge)


def _log(
    problem: TaskGraph,
    graph: ScheduledGraph,
    steps: Steps,
    edge: int | None,
    zeroed: bool | str | None,
    total: float,
    size: float = 0.0,
) -> None:
    """Log a try: what is tried, whether it is kept, and the longest path that it gives."""
    if not steps.wanted:
        return
    dag, named, values = problem.dag, problem.named, {"parallel time": total}
    path = () if zeroed == "already" else graph.dominant_sequence()
    dominant = named(path)
    length = f"parallel time {number(total)}, dominant sequence {' '.join(dominant)}"
    record: dict[str, Any] = {
        "edge": None, "zeroed": zeroed, "parallel_time": total,
        "dominant_sequence": dominant or None,
    }  # fmt: skip
    if edge is None:
        text, alone = f"every task for itself: {length}", dict(enumerate(range(len(dag))))
        step = Step(text=text, items={"dominant": path}, groups=alone, values=values)
        steps.add(step, **record)
        return
    both = int(dag.source[edge]), int(dag.target[edge])
    ends, members = named(both), graph.members_of(both[0])
    record["edge"], cluster = ends, named(members)
    word = {"already": "inside", True: "zeroed", False: "not zeroed"}[zeroed or False]
    cells: dict[str, str | float] = {
        "edge": " → ".join(ends), "size": float(size), "": word, "cluster": " ".join(cluster),
        "parallel time": total, "dominant sequence": " ".join(dominant),
    }  # fmt: skip
    if zeroed == "already":
        text = f"{ends[0]} → {ends[1]}: is inside {braced(cluster)} already"
        steps.add(Step(text=text, cells=cells, edges={"zeroed": (edge,)}), **record)
        return
    verdict = "zeroed, cluster" if zeroed else "not zeroed, cluster would be"
    step = Step(
        text=f"{ends[0]} → {ends[1]}: {verdict} {braced(cluster)}, {length}",
        cells=cells,
        items={"examined": both, "dominant": path},
        edges={"zeroed" if zeroed else "refused": (edge,)},
        groups=dict.fromkeys(members, min(members)) if zeroed else {},
        values=values,
    )
    steps.add(step, **record, cluster=cluster)


@by_tries(
    name="linear-clustering",
    needs=(NO_GIVEN_PLAN, SINGLE_CORES),
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
