"""Equal tasks without communication: plans made of slots of one duration each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Solution
from makespan.core.steps import Step, listed
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.placing.in_time import in_time
from makespan.taskgraph.placing.insertion import in_order
from makespan.taskgraph.placing.ready import Ready
from makespan.taskgraph.placing.steps import QUEUED
from makespan.taskgraph.problem import TaskGraph


def in_slots(
    problem: TaskGraph, control: Control, dag: Dag, order: Integers, *, backwards: bool = False
) -> Solution:
    """Return the plan, proved, in which each slot takes the first ready tasks of ``order``.

    ``dag`` is the graph, or ``backwards`` the graph with its edges turned round, whose last slot is
    the first. When the time is up, :func:`in_time` says what to do.
    Complexity: O((n + e) log n).
    """
    rank = np.empty(len(dag))
    rank[order] = np.arange(len(dag))
    ready, processors = Ready(dag, -rank), range(int(problem.cores.sum()))
    slot = np.zeros(len(dag), dtype=np.int64)
    while ready:
        if control.expired():
            return Solution(schedule=in_time(problem, control))
        queue = ready.tasks if control.log_steps else []
        taken = [ready.pop() for _ in processors if ready]
        if control.log_steps:
            _log(problem, control, int(ready.time), queue, taken, backwards=backwards)
        for task in taken:
            slot[task] = ready.time
            ready.run_until(task, ready.time + 1)
        ready.advance()
    slot = slot.max(initial=0) - slot if backwards else slot
    return Solution(schedule=_executed(problem, slot), optimal=True)


def _log(
    problem: TaskGraph,
    control: Control,
    slot: int,
    queue: list[int],
    taken: list[int],
    *,
    backwards: bool,
) -> None:
    names = problem.named
    word = "slot from the end" if backwards else "slot"
    first, rest = " ".join(names(taken)), listed(names(queue[len(taken) :]), QUEUED)
    control.step(
        Step(
            text=f"{word} {slot + 1}: {first}; still ready: {rest}",
            cells={word: slot + 1.0, "tasks": first, "still ready": rest},
            items={"ready": queue, "chosen": taken, "placed": taken},
        )
    )


def _executed(problem: TaskGraph, slot: Integers) -> Schedule:
    """Return the plan that executes each task in its slot, on the lowest free machine.

    Data take no time. With blocking communication, a machine fetches them when it takes the task.
    """
    count = len(problem.dag)
    order = np.lexsort((problem.dag.position, slot))
    first = np.searchsorted(slot[order], slot[order])
    lowest = np.repeat(np.arange(len(problem.network)), problem.cores)
    machine = np.empty(count, dtype=np.int64)
    machine[order] = lowest[np.arange(count) - first]
    schedule = in_order(problem, machine, slot)
    if not problem.is_blocking:
        return schedule
    moved = schedule.kind == Activity.TRANSFER
    fetched = schedule.start[problem.dag.target[schedule.item[moved]]]
    start, end = schedule.start.copy(), schedule.end.copy()
    start[moved] = end[moved] = fetched
    return replace(schedule, start=start, end=end)
