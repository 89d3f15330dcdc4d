"""Edge zeroing: merge along the heaviest edges while the parallel time does not grow."""

from __future__ import annotations

from typing import Any

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.numeric.sorting import sorted_by
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.taskgraph.clustering.clusters import ScheduledGraph, clustering_seconds
from makespan.taskgraph.clustering.mapping import planned
from makespan.taskgraph.needs import NO_GIVEN_PLAN, QUICKLY_TRIED
from makespan.taskgraph.placing.in_time import in_time
from makespan.taskgraph.placing.levels import weights
from makespan.taskgraph.placing.steps import Steps, braced, number
from makespan.taskgraph.problem import TaskGraph

NOT_GROWN = 1 + 1e-12


@register(
    "taskgraph",
    name="edge-zeroing",
    needs=(NO_GIVEN_PLAN,),
    reach=(QUICKLY_TRIED,),
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

    Then clusters are merged until there are as few as machines, mapped, and ordered by level.
    Ties between edges keep the input order, ties between levels go to the lowest task.

    Parameters
    ----------
    levels
        ``"zeroed"``: tasks of a cluster follow one another by the levels of the graph with all
        edges inside clusters zeroed, the merge being tried included (the only reading that gives
        the lecture's trace). ``"original"``: by the levels of the original graph.
    """
    dag, steps = problem.dag, Steps(control)
    task, edge = weights(problem, w1, w2)
    with control.reserving(2 * clustering_seconds(dag)):
        if control.expired():
            return Solution(schedule=in_time(problem, control))
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
            _log(problem, graph, steps, each, "already", best)
            continue
        merge = graph.merge(source, target)
        total = graph.parallel_time()
        accepted = total <= best * NOT_GROWN
        _log(problem, graph, steps, each, accepted, total)
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
) -> None:
    """Log a try: what is tried, whether it is kept, and the longest path that it gives."""
    if not steps.wanted:
        return
    dominant = None if zeroed == "already" else problem.named(graph.dominant_sequence())
    outcome = f"parallel time {number(total)}, dominant sequence {' '.join(dominant or ())}"
    record: dict[str, Any] = {
        "zeroed": zeroed,
        "parallel_time": total,
        "dominant_sequence": dominant,
    }
    if edge is None:
        steps.add(f"every task for itself: {outcome}", edge=None, **record)
        return
    source = int(problem.dag.source[edge])
    ends = problem.named([source, int(problem.dag.target[edge])])
    cluster = problem.named(graph.members_of(source))
    text = f"{ends[0]} → {ends[1]}: "
    if dominant is None:
        steps.add(f"{text}is inside {braced(cluster)} already", edge=ends, **record)
        return
    verdict = "zeroed, cluster" if zeroed else "not zeroed, cluster would be"
    text += f"{verdict} {braced(cluster)}, {outcome}"
    steps.add(text, edge=ends, **record, cluster=cluster)
