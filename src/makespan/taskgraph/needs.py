"""What methods need of a task graph."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from makespan.core.registry import Need, at_most, condition, one_of, register
from makespan.taskgraph.problem import TaskGraph


def _given(problem: TaskGraph) -> str | None:
    if problem.objective == "pareto":
        return "objective is 'pareto', for many"
    place = "assignment" if problem.assignment is not None else "sequence"
    return f"{place} is given" if problem.given.anything else None


def _unequal(problem: TaskGraph) -> str | None:
    """Return the first task whose duration differs from that of task 0 on machine 0."""
    tasks, names, machines = np.arange(len(problem.dag)), problem.dag.names, problem.machines
    first = float(problem.durations_on([0], [0])[0])
    for machine in range(len(problem.network)):
        seconds = problem.durations_on(tasks, np.full(len(tasks), machine))
        others = np.flatnonzero(seconds != first)
        if len(others):
            task = int(others[0])
            return (
                f"{names[task]} takes {seconds[task]:g} s on {machines[machine]}, "
                f"{names[0]} {first:g} s on {machines[0]}"
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


def _no_task(
    what: str, text: str, column: Callable[[TaskGraph], Any], unmet: Callable[[Any], Any]
) -> Need:
    """Return the need of no task whose entry in a column is such; ``text`` says what it is."""

    def found(problem: TaskGraph) -> str | None:
        values = column(problem)
        tasks = np.flatnonzero(unmet(values))
        return (
            f"{problem.dag.names[tasks[0]]} {text.format(values[tasks[0]])}" if len(tasks) else None
        )

    return Need(what, found)


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


NO_GIVEN_PLAN = Need("a plan to be made", _given)
A_FRONT = one_of("objective", "pareto", text="a front to be made", decisive=True)
LEAST_MAKESPAN = Need(
    "the makespan as the objective",
    lambda problem: f"objective is {problem.objective!r}" if problem.objective == "price" else None,
)
NO_BUDGET = Need(
    "no budget", lambda problem: None if problem.budget is None else f"budget is {problem.budget:g}"
)
PRICES = condition("machines with prices", lambda p: p.network.is_priced, "nothing costs anything")
A_GIVEN_PLAN = condition(
    "a given plan", lambda p: p.given.anything, "neither assignment nor sequence is given"
)
EQUAL_DURATIONS = Need("equal durations of all tasks on all machines", _unequal)
NO_COMMUNICATION = Need("data that take no time", _communication)
FOREST = Need("a forest, all edges towards the roots or all away from them", _tree)
TWO_PROCESSORS = Need(
    "two machines, or one with two cores",
    lambda p: None if (n := int(p.network.cores.sum())) == 2 else f"there are {n}",
)
OVERLAP = condition(
    "communication beside computation", lambda p: not p.is_blocking, "communication is blocking"
)
NO_RELEASES = _no_task(
    "tasks that are there from the start", "is released at {:g} s",
    lambda problem: problem.dag.release, lambda release: release > 0,
)  # fmt: skip
NO_DEADLINES = _no_task(
    "tasks without deadlines", "has to end by {:g} s", lambda problem: problem.due, np.isfinite
)
SINGLE_CORES = _no_task(
    "tasks on one core each", "needs {}", lambda problem: problem.dag.cores, lambda cores: cores > 1
)
NO_CONTENTION = Need(
    "transfers that wait for nothing",
    lambda problem: f"contention is {problem.contention}" if problem.contention != "none" else None,
)
NO_PRICE_OF_WAITING = condition(
    "no prices where transfers wait",
    lambda p: not p.transfers_wait or (p.budget is None and p.objective != "price"),
    "transfers wait, and there is a price to be kept low",
)
TRANSFERS_WAIT = condition(
    "transfers that wait for links, ports or machines",
    lambda problem: problem.transfers_wait,
    "communication is overlap and contention none",
    decisive=True,
)
NO_DUPLICATION = condition(
    "tasks that are executed once", lambda p: not p.duplication, "duplication is allowed"
)
DUPLICATION = condition(
    "duplication of tasks", lambda p: p.duplication, "duplication is not allowed"
)

FEW_CORES = at_most(2**20, "cores that tasks hold", lambda p: float(p.dag.cores.sum()))
"""Sums of what tasks take of cores stay far from what the integers of CP-SAT can hold."""
QUICKLY_INSERTED = at_most(
    1e7, "pairs of a task and a machine", lambda p: float(len(p.dag)) * len(p.network)
)
"""What one more plan by compiled insertion is made of in about a second."""
QUICKLY_TRIED, QUICKLY_COPIED = (
    at_most(
        most,
        "tasks and edges on each machine",
        lambda p: float(len(p.dag) + len(p.dag.source)) * len(p.network),
    )
    for most in (1e6, 1e7)
)
"""What plain Python plans in some seconds, and compiled loops with copies."""

by_insertion, by_tries = (
    partial(register, "taskgraph", needs=(NO_GIVEN_PLAN,), reach=(reach,))
    for reach in (QUICKLY_INSERTED, QUICKLY_TRIED)
)
"""Register a method that makes its plan by compiled insertion, or in plain Python."""
INSERTION = "O((n + e) log n + n m), compiled; O(n m g + e m h) under contention"
