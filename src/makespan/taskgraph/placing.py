"""An order of tasks → the plan in which each goes to the machine that suits it best."""

from __future__ import annotations

from typing import Literal

import numpy as np

from makespan.core.schedule import Floats, Integers, Schedule
from makespan.taskgraph.insertion import Insertion, planned
from makespan.taskgraph.loops import pays_off
from makespan.taskgraph.problem import TaskGraph

COMPILE_FROM = 300_000
"""Tries of a task on a machine, and edges, from which loading a compiler pays off."""

Aim = Literal["end", "start"]


def inserted(
    problem: TaskGraph,
    order: Integers,
    *,
    aim: Aim = "end",
    pinned: Integers | None = None,
    bias: Floats | None = None,
) -> Schedule:
    """Return the plan that places the tasks of ``order`` one after another, by insertion.

    Parameters
    ----------
    order
        All tasks, predecessors first.
    aim
        Each task goes where it ends, or starts, first; ties to the lowest machine.
    pinned
        The machine of tasks that have one, -1 for the others.
    bias
        Seconds that are added to what is compared, shape (tasks, machines).

    Complexity: O(n m + e) where gaps are found at once, all machines exchange data alike and no
    transfer waits; compiled there for large graphs. O(n m g + e m h) else.
    """
    steps = len(problem.dag) * len(problem.network) + len(problem.dag.source)
    if problem.contention == "none" and not problem.is_blocking and pays_off(steps, COMPILE_FROM):
        return _compiled(problem, order, aim, pinned, bias)
    return plainly_inserted(problem, order, aim=aim, pinned=pinned, bias=bias)


def plainly_inserted(
    problem: TaskGraph,
    order: Integers,
    *,
    aim: Aim = "end",
    pinned: Integers | None = None,
    bias: Floats | None = None,
) -> Schedule:
    """Like :func:`inserted`, never compiled."""
    plan, machines = Insertion(problem), range(len(problem.network))
    for task in order.tolist():
        fixed = -1 if pinned is None else int(pinned[task])
        if fixed >= 0:
            plan.place(task, fixed)
            continue
        best, chosen = np.inf, 0
        for machine in machines:
            option = plan.try_on(task, machine)
            value = option.end if aim == "end" else option.start
            if bias is not None:
                value += float(bias[task, machine])
            if value < best:
                best, chosen = value, machine
        plan.place(task, chosen)
    return plan.schedule()


def _compiled(
    problem: TaskGraph, order: Integers, aim: Aim, pinned: Integers | None, bias: Floats | None
) -> Schedule:
    from makespan.taskgraph.insertion_kernels import insert_all

    dag, network, count = problem.dag, problem.network, len(problem.dag)
    fixed, per_unit = network.routing.fixed_seconds, network.routing.seconds_per_unit
    own_row = np.full(count, -1, dtype=np.int64)
    own_row[dag.own] = np.arange(len(dag.own))
    first_core = np.zeros(len(network) + 1, dtype=np.int64)
    np.cumsum(network.cores, out=first_core[1:])
    machine = np.full(count, -1, dtype=np.int64)
    start, end = np.zeros(count), np.zeros(count)
    columns = _writable(
        order,
        np.full(count, -1, dtype=np.int64) if pinned is None else pinned,
        np.zeros((0, 0)) if bias is None else bias,
        dag.work, own_row, dag.durations, network.speed, network.task_setup, first_core,
        dag.first_in, dag.predecessors, dag.size[dag.in_edges], fixed, per_unit,
    )  # fmt: skip
    uniform = _is_uniform(fixed) and _is_uniform(per_unit)
    insert_all(*columns[:3], aim == "start", *columns[3:], uniform, machine, start, end)  # type: ignore[call-arg, arg-type]
    return planned(problem, machine, start, end)


def _writable(*columns: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the columns as arrays of one kind for the compiler, which tells read-only ones."""
    return tuple(c if c.flags.writeable and c.flags.c_contiguous else c.copy() for c in columns)


def _is_uniform(table: Floats) -> bool:
    """Whether all entries beside the diagonal are equal."""
    if len(table) == 1:
        return True
    others = table[~np.eye(len(table), dtype=bool)]
    return bool((others == others[0]).all())
