"""Edge zeroing: merge along the heaviest edges while the parallel time does not grow."""

from __future__ import annotations

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.numeric.sorting import sorted_by
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.core.steps import Step, number
from makespan.taskgraph.clustering.clusters import ScheduledGraph, clustering_seconds
from makespan.taskgraph.clustering.mapping import planned
from makespan.taskgraph.levels import weights
from makespan.taskgraph.list_scheduling.fallback import fallback_plan
from makespan.taskgraph.list_scheduling.steps import Steps, braced
from makespan.taskgraph.needs import NO_GIVEN_PLAN, QUICKLY_TRIED, SINGLE_CORES
from makespan.taskgraph.problem import TaskGraph

NOT_GROWN = 1 + 1e-12


@register(
    "taskgraph",
    name="edge-zeroing",
    needs=(NO_GIVEN_PLAN, SINGLE_CORES),
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
    dag, named = problem.dag, problem.named
    if edge is None:
        text = f"every task for itself: parallel time {number(total)}"
        path = graph.dominant_sequence()
        dominant = named(path)
        steps.add(
            Step(
                text=f"{text}, dominant sequence {' '.join(dominant)}",
                items={"dominant": path},
                groups=dict(enumerate(range(len(dag)))),
                values={"parallel time": total},
            ),
            edge=None, zeroed=None, parallel_time=total, dominant_sequence=dominant,
        )  # fmt: skip
        return
    source, target = int(dag.source[edge]), int(dag.target[edge])
    ends = named([source, target])
    members = graph.members_of(source)
    cluster = named(members)
    cells: dict[str, str | float] = {"edge": " → ".join(ends), "size": float(size)}
    if zeroed == "already":
        text = f"{ends[0]} → {ends[1]}: is inside {braced(cluster)} already"
        cells |= {"": "inside", "cluster": " ".join(cluster), "parallel time": total}
        steps.add(
            Step(text=text, cells={**cells, "dominant sequence": ""}, edges={"zeroed": (edge,)}),
            edge=ends, zeroed="already", parallel_time=total, dominant_sequence=None,
        )  # fmt: skip
        return
    path = graph.dominant_sequence()
    dominant = named(path)
    cells |= {"": "zeroed" if zeroed else "not zeroed", "cluster": " ".join(cluster)}
    cells |= {"parallel time": total, "dominant sequence": " ".join(dominant)}
    verdict = "zeroed, cluster" if zeroed else "not zeroed, cluster would be"
    text = (
        f"{ends[0]} → {ends[1]}: {verdict} {braced(cluster)}, parallel time "
        f"{number(total)}, dominant sequence {' '.join(dominant)}"
    )
    steps.add(
        Step(
            text=text,
            cells=cells,
            items={"examined": (source, target), "dominant": path},
            edges={"zeroed" if zeroed else "refused": (edge,)},
            groups=dict.fromkeys(members, min(members)) if zeroed else {},
            values={"parallel time": total},
        ),
        edge=ends, zeroed=zeroed, parallel_time=total, dominant_sequence=dominant,
        cluster=cluster,
    )  # fmt: skip
