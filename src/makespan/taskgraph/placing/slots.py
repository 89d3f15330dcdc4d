"""Equal tasks without communication: plans made of slots of one duration each."""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.schedule import Activity, Schedule
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.placing.insertion import in_order
from makespan.taskgraph.problem import TaskGraph


def slots_of(dag: Dag, control: Control, order: Integers, processors: int) -> Integers | None:
    """Return the slot of each task when each slot takes the first ready tasks of ``order``.

    None when the time is up.
    Complexity: O((n + e) log n).
    """
    rank = np.empty(len(dag), dtype=np.int64)
    rank[order] = np.arange(len(dag))
    places = rank.tolist()
    waiting = np.diff(dag.first_in).tolist()
    first, successors = dag.first_out.tolist(), dag.successors.tolist()
    queue = [(places[task], task) for task in range(len(dag)) if not waiting[task]]
    heapq.heapify(queue)
    slot = np.zeros(len(dag), dtype=np.int64)
    number = 0
    while queue:
        if control.expired():
            return None
        taken = [heapq.heappop(queue)[1] for _ in range(min(processors, len(queue)))]
        for task in taken:
            slot[task] = number
            for successor in successors[first[task] : first[task + 1]]:
                waiting[successor] -= 1
                if not waiting[successor]:
                    heapq.heappush(queue, (places[successor], successor))
        number += 1
    return slot


def in_slots(problem: TaskGraph, slot: Integers) -> Schedule:
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
