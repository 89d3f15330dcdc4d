"""Tasks behind all others, each on the core that is free first: a plan by one compiled pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from makespan.core.numeric.arrays import readonly
from makespan.core.numeric.jit import pays
from makespan.core.schedule import Schedule
from makespan.core.system.memory import claim
from makespan.taskgraph.levels import by_level, levels, weights
from makespan.taskgraph.model.loops import LOADED_FROM
from makespan.taskgraph.placing.insertion import planned
from makespan.taskgraph.problem import TaskGraph

COMPILE_FROM = 300_000
"""Tries of a task on a machine, and edges, from which loading a compiler pays off."""


def is_compiled(problem: TaskGraph) -> bool:
    """Whether there is enough to place for compiled loops.

    They are made for transfers that wait for nothing, and tasks on one core each.
    """
    steps = len(problem.dag) * len(problem.network) + len(problem.dag.source)
    made = not problem.transfers_wait and not problem.is_rigid
    return made and pays(steps, COMPILE_FROM, LOADED_FROM)


def columns(problem: TaskGraph) -> tuple[Any, ...]:
    """Return what compiled loops read of a problem, in the order of their arguments."""
    dag, network = problem.dag, problem.network
    return readonly(
        dag.work, dag.release, problem.stated_row, problem.stated[1], network.speed,
        network.task_setup, problem.first_core, dag.first_in, dag.predecessors,
        dag.size[dag.in_edges], network.routing.fixed_seconds, network.routing.seconds_per_unit,
    )  # fmt: skip


def appended(problem: TaskGraph) -> Schedule:
    """Return the plan that gives each task, by falling level, to the core that is free first.

    Complexity: O(n log n + n log c + e), c the cores of all machines; compiled.
    """
    from makespan.taskgraph.placing.insertion_kernels import append_some

    dag, count, cores = problem.dag, len(problem.dag), int(problem.cores.sum())
    claim(64 * cores, f"when {cores:,} cores are free")
    machine = np.full(count, -1, dtype=np.int64)
    start, end, tail = np.zeros(count), np.zeros(count), np.zeros(cores)
    order, nowhere = readonly(by_level(dag, levels(dag, *weights(problem))), machine.copy())
    append_some(order, nowhere, *columns(problem), machine, start, end, tail)  # type: ignore[call-arg]
    return planned(problem, machine, start, end)
