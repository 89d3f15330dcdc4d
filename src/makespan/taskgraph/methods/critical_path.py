"""Methods that follow the critical path: CPOP and MCP."""

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import inverse, sorted_by
from makespan.core.solution import Solution
from makespan.taskgraph.levels import colevels, levels, ranks, ready_by_level, weights
from makespan.taskgraph.list_scheduling.insertion import inserted
from makespan.taskgraph.model.loops import graph_loop
from makespan.taskgraph.needs import INSERTION, by_insertion
from makespan.taskgraph.problem import TaskGraph

TIE = 1e-9


@by_insertion(name="cpop", complexity=INSERTION, source="Topcuoglu, Hariri and Wu 2002")
def cpop(problem: TaskGraph, control: Control) -> Solution:
    """Puts a critical path on the machine that executes it first, other tasks where they end first.

    Of the ready tasks the one with the longest path through it goes first: upward rank and
    downward rank together. Means are those of ``heft``; a task's own time counts once.
    """
    dag = problem.dag
    task, edge = weights(problem)
    through = levels(dag, task, edge) + (colevels(dag, task, edge) - task)
    path, machines = critical_path(problem, through), range(len(problem.network))
    seconds = [problem.durations_on(path, np.full(len(path), each)).sum() for each in machines]
    machine = int(np.argmin(seconds))
    pinned = np.full(len(dag), -1, dtype=np.int64)
    pinned[path] = machine
    order, logged = ready_by_level(dag, through), (through, "path", "")
    schedule = inserted(problem, control, order, pinned=pinned, logged=logged)
    return Solution(
        schedule=schedule,
        details={
            "critical_path": problem.named(path.tolist()),
            "machine": problem.machines[machine],
        },
    )


def critical_path(problem: TaskGraph, through: Floats) -> Integers:
    """Return the lowest of the longest paths, given the longest path through each task."""
    dag = problem.dag
    path = np.zeros(len(dag), dtype=np.int64)
    length = lowest_path.run(
        len(dag) + len(dag.source),
        (dag.first_in, dag.first_out, dag.successors, through),
        (path,),
        (float(through.max()) * (1 - TIE),),
    )
    return path[:length]


@graph_loop
def lowest_path(first_in, first_out, successors, through, path, least):  # type: ignore[no-untyped-def]
    """Write the lowest of the paths on which all are ``least`` or more; return its length."""
    task = 0
    while first_in[task] < first_in[task + 1] or through[task] < least:
        task += 1
    count = 0
    while task >= 0:
        path[count] = task
        count += 1
        following = -1
        for position in range(first_out[task], first_out[task + 1]):
            other = successors[position]
            if through[other] >= least and (following < 0 or other < following):
                following = other
        task = following
    return count


@by_insertion(name="mcp", complexity=INSERTION, source="Wu and Gajski 1990")
def mcp(problem: TaskGraph, control: Control) -> Solution:
    """By rising latest start, each task goes to the machine on which it starts first.

    The latest start of a task is the longest path less its upward rank. Ties go to the task with
    the successor that must start sooner (of the published comparison of all descendants, the first
    step), then to the lowest task.
    """
    dag = problem.dag
    rank = ranks(problem)
    urgent = np.full(len(dag), -1.0)  # the greatest rank among the successors
    np.maximum.at(urgent, dag.source, rank[dag.target])
    order = sorted_by(-rank, -urgent)
    place = inverse(order)
    if not (place[dag.source] < place[dag.target]).all():
        order = ready_by_level(dag, -place)
    logged = (rank.max() - rank, "latest start", "")
    return Solution(schedule=inserted(problem, control, order, aim="start", logged=logged))
