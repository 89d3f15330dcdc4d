"""What methods need of a task graph."""

from __future__ import annotations

import numpy as np

from makespan.core.registry import Need
from makespan.taskgraph.problem import TaskGraph


def _given(problem: TaskGraph) -> str | None:
    place = "assignment" if problem.assignment is not None else "sequence"
    return f"{place} is given" if problem.given.anything else None


def _no_given(problem: TaskGraph) -> str | None:
    return None if problem.given.anything else "neither assignment nor sequence is given"


def _unequal(problem: TaskGraph) -> str | None:
    """Return the first task whose duration differs from that of task 0 on machine 0."""
    table = problem.durations
    for machine in np.flatnonzero((table != table[0, 0]).any(axis=0)).tolist():
        task = int(np.flatnonzero(table[:, machine] != table[0, 0])[0])
        names, machines = problem.dag.names, problem.machines
        return (
            f"{names[task]} takes {table[task, machine]:g} s on {machines[machine]}, "
            f"{names[0]} {table[0, 0]:g} s on {machines[0]}"
        )
    return None


def _communication(problem: TaskGraph) -> str | None:
    routing = problem.network.routing
    if not len(problem.dag.size) or len(problem.network) == 1:
        return None
    if routing.fixed_seconds.any():
        a, b = np.argwhere(routing.fixed_seconds)[0].tolist()
        machines = problem.machines
        return f"a message from {machines[a]} to {machines[b]} takes set-up time or a delay"
    if not routing.seconds_per_unit.any():
        return None
    heavy = np.flatnonzero(problem.dag.size > 0)
    return f"edges[{int(heavy[0])}].size is {problem.dag.size[heavy[0]]:g}" if len(heavy) else None


def _tree(problem: TaskGraph) -> str | None:
    dag = problem.dag
    into, out = np.diff(dag.first_in), np.diff(dag.first_out)
    if (out <= 1).all() or (into <= 1).all():
        return None
    fork, join = int(np.argmax(out > 1)), int(np.argmax(into > 1))
    return (
        f"{dag.names[fork]} has {out[fork]} successors and "
        f"{dag.names[join]} has {into[join]} predecessors"
    )


def _not_two(problem: TaskGraph) -> str | None:
    cores = int(problem.network.cores.sum())
    return None if cores == 2 else f"there are {cores}"


NO_GIVEN_PLAN = Need("a plan to be made", _given)
A_GIVEN_PLAN = Need("a given plan", _no_given)
EQUAL_DURATIONS = Need("equal durations of all tasks on all machines", _unequal)
NO_COMMUNICATION = Need("data that take no time", _communication)
FOREST = Need("a forest, all edges towards the roots or all away from them", _tree)
TWO_PROCESSORS = Need("two machines, or one with two cores", _not_two)
OVERLAP = Need(
    "communication beside computation",
    lambda problem: "communication is blocking" if problem.is_blocking else None,
)
NO_CONTENTION = Need(
    "transfers that wait for nothing",
    lambda problem: f"contention is {problem.contention}" if problem.contention != "none" else None,
)
NO_DUPLICATION = Need(
    "tasks that are executed once",
    lambda problem: "duplication is allowed" if problem.duplication else None,
)
DUPLICATION = Need(
    "duplication of tasks",
    lambda problem: None if problem.duplication else "duplication is not allowed",
)
