"""Dominant sequence clustering: shorten the longest path of the scheduled graph step by step."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.core.steps import Step, number
from makespan.taskgraph.clustering.clusters import clustering_of, clustering_seconds
from makespan.taskgraph.clustering.dominant import Examined, Search
from makespan.taskgraph.clustering.mapping import planned
from makespan.taskgraph.levels import weights
from makespan.taskgraph.needs import NO_GIVEN_PLAN, QUICKLY_TRIED, SINGLE_CORES
from makespan.taskgraph.placing.in_time import cannot_end, in_time
from makespan.taskgraph.placing.steps import Steps, braced
from makespan.taskgraph.problem import TaskGraph


@register(
    "taskgraph",
    name="dominant-sequence-clustering",
    needs=(NO_GIVEN_PLAN, SINGLE_CORES),
    reach=(QUICKLY_TRIED,),
    complexity="O((n + e) log n)",
    source="Yang and Gerasoulis 1994",
)
def dominant_sequence_clustering(
    problem: TaskGraph, control: Control, *, w1: float | None = None, w2: float | None = None
) -> Solution:
    """The free task on the longest path joins the cluster from which its latest data come.

    It joins only if that starts it earlier than alone. Predecessors that nothing else waits for
    move there with it as long as its start falls. It joins no cluster where a task on a longer
    path, some of whose predecessors are still to come, would lose the start that it can gain.

    The tasks of a cluster follow one another as they started here. No parallel time is above
    that of every task for itself; forks and joins reach the optimum of any number of machines.
    Then clusters are merged until there are as few as machines, mapped, and ordered: by level
    where some were merged.
    """
    dag, steps = problem.dag, Steps(control)
    task, edge = weights(problem, w1, w2)
    if cannot_end(problem, control):
        return Solution(schedule=in_time(problem, control))
    search = Search(dag, task, edge)
    with control.reserving(2 * clustering_seconds(dag)):
        for each in search.run():
            if control.expired():
                return Solution(schedule=in_time(problem, control))
            if steps.wanted:
                _log(problem, steps, search, each)
    earliest = -np.array(search.start)
    clustering = clustering_of(dag, task, edge, search.cluster, priority=earliest)
    return planned(problem, control, steps, clustering, (task, edge), priority=earliest)


def _log(problem: TaskGraph, steps: Steps, search: Search, step: Examined) -> None:
    names = problem.dag.names
    name, start = names[step.task], search.start[step.task]
    cluster = problem.named(search.members(search.cluster[step.task]))
    moved = problem.named(step.moved)
    what = f"joins {braced(cluster)}" if step.joined else "begins a cluster"
    if moved:
        what += f" with {' '.join(moved)}"
    if step.reserved_for is not None:
        what += f" (not to delay {names[step.reserved_for]}, on a longer path)"
    text = f"{name} on a path of length {number(step.length)} {what}, starts at {number(start)}"
    together = (step.task, *step.moved)
    shown = Step(
        text=text,
        cells={
            "task": name, "path": step.length, "cluster": " ".join(cluster) if step.joined else "",
            "start": start,
        },
        items={"examined": (step.task,)},
        edges=_zeroed(problem, search, step.task),
        groups={each: int(search.cluster[each]) for each in together},
        values={"longest path": step.length},
    )  # fmt: skip
    steps.add(
        shown,
        task=name, joined=step.joined, cluster=cluster, moved=moved, start=start,
        length=step.length,
    )  # fmt: skip


def _zeroed(problem: TaskGraph, search: Search, task: int) -> dict[str, tuple[int, ...]]:
    """Return the edges into a task from its own cluster."""
    dag = problem.dag
    incoming = dag.in_edges[dag.first_in[task] : dag.first_in[task + 1]].tolist()
    own = search.cluster[task]
    return {"zeroed": tuple(e for e in incoming if search.cluster[dag.source[e]] == own)}
