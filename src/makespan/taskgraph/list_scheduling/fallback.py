"""A plan that is there at once, for methods whose time is up."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import readonly
from makespan.core.numeric.binding import bind
from makespan.core.numeric.sorting import inverse
from makespan.core.schedule import Schedule
from makespan.core.system.memory import claim
from makespan.taskgraph.levels import by_level, levels, weights
from makespan.taskgraph.list_scheduling.assigned import columns, in_order, is_compiled, planned
from makespan.taskgraph.problem import TaskGraph

SECONDS_A_STEP = 1e-6
"""What a method that is not compiled takes at the least for a task or an edge."""


def cannot_end(problem: TaskGraph, control: Control) -> bool:
    """Whether the time that is left is too short for a method that is not compiled."""
    left = control.remaining
    least = SECONDS_A_STEP * (len(problem.dag) + len(problem.dag.source))
    return control.expired() or (left is not None and left < least)


def fallback_plan(problem: TaskGraph, control: Control) -> Schedule:
    """Return the best plan known, or else one that is made in a pass or two.

    That is everything on one machine, or where large graphs wait for no transfers each task on the
    core that is free first, if that ends sooner.

    Complexity: O(n log n + n log c + e), c the cores of all machines; compiled for large graphs.
    """
    if control.incumbent is not None and control.incumbent.schedule is not None:
        return control.incumbent.schedule
    alone = on_one_machine(problem)
    return min(alone, appended(problem), key=_end) if is_compiled(problem) else alone


def appended(problem: TaskGraph) -> Schedule:
    """Return the plan that gives each task, by falling level, to the core that is free first.

    Complexity: O(n log n + n log c + e), c the cores of all machines; compiled.
    """
    from makespan.taskgraph.list_scheduling.insertion_kernels import append_some

    dag, count, cores = problem.dag, len(problem.dag), int(problem.cores.sum())
    claim(64 * cores, f"when {cores:,} cores are free")
    machine = np.full(count, -1, dtype=np.int64)
    start, end, tail = np.zeros(count), np.zeros(count), np.zeros(cores)
    order, nowhere = readonly(by_level(dag, levels(dag, *weights(problem))), machine.copy())
    written = {"pinned": nowhere, "machine": machine, "start": start, "end": end, "tail": tail}
    bind(append_some, **columns(problem), **written)(order)
    return planned(problem, machine, start, end)


def _end(schedule: Schedule) -> float:
    return schedule.makespan


def on_one_machine(problem: TaskGraph) -> Schedule:
    """Return the plan that has everything on the machine on which that ends soonest."""
    dag, network = problem.dag, problem.network
    plain = np.ones(len(dag), dtype=bool)
    plain[problem.stated[0]] = False
    work, count = (dag.work * dag.cores)[plain].sum(), dag.cores[plain].sum()
    total = work / network.speed + count * network.task_setup
    if not plain.all():
        own, seconds = problem.stated
        total = total + dag.cores[own] @ seconds
    machine = int(np.argmin(total / problem.cores))
    place = dag.position
    if problem.cores[machine] > 1:
        place = inverse(by_level(dag, levels(dag, *weights(problem, w2=0.0))))
    return in_order(problem, np.full(len(dag), machine), place)
