"""Compiled loops for many independent tasks."""

from __future__ import annotations

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import kernel


@kernel
def hand_out(
    seconds: Floats, free: Floats, machines: Integers, chosen: Integers, first: int, last: int
) -> None:
    """Give the tasks from ``first`` up to ``last`` to the machine that is free first.

    ``free`` and ``machines`` are a heap of times and machines, in lexicographic order; they are
    kept between calls.
    """
    size = len(free)
    for task in range(first, last):
        machine, time = machines[0], free[0] + seconds[task]
        chosen[task] = machine
        node = 0
        while True:
            child = 2 * node + 1
            if child >= size:
                break
            other = child + 1
            if other < size and (
                free[other] < free[child]
                or (free[other] == free[child] and machines[other] < machines[child])
            ):
                child = other
            if time < free[child] or (time == free[child] and machine < machines[child]):
                break
            free[node], machines[node] = free[child], machines[child]
            node = child
        free[node], machines[node] = time, machine


@kernel
def first_fit_by_tree(
    seconds: Floats, room: Floats, chosen: Integers, first: int, last: int
) -> bool:
    """Write the first machine with room for each task from ``first`` up to ``last``; False where
    none has.

    ``room`` is a complete binary tree that holds the greatest room below each node, so that the
    leftmost leaf with room is found in log m steps; it is kept between calls.
    """
    leaves = len(room) // 2
    for task in range(first, last):
        duration = seconds[task]
        if duration > room[1]:
            return False
        node = 1
        while node < leaves:
            node *= 2
            if room[node] < duration:
                node += 1
        room[node] -= duration
        chosen[task] = node - leaves
        while node > 1:
            node //= 2
            room[node] = max(room[2 * node], room[2 * node + 1])
    return True


@kernel
def back_to_back(machine: Integers, duration: Floats, free: Floats, start: Floats) -> None:
    """Start every row when the rows before it on its machine are over."""
    for row in range(len(machine)):
        start[row] = free[machine[row]]
        free[machine[row]] += duration[row]


@kernel
def one_at_a_time(
    machine: Integers,
    task: Integers,
    duration: Floats,
    machine_free: Floats,
    task_free: Floats,
    start: Floats,
) -> None:
    """Start every piece when its machine is free and its task's last piece is over."""
    for row in range(len(machine)):
        begin = max(machine_free[machine[row]], task_free[task[row]])
        start[row] = begin
        machine_free[machine[row]] = task_free[task[row]] = begin + duration[row]


@kernel
def in_order(machine: Integers, start: Floats, end: Floats, latest: Floats) -> bool:
    """Whether the rows of every machine stand in the order of their starts and ends.

    ``latest`` holds minus infinity twice for each machine.
    """
    for row in range(len(machine)):
        at = 2 * machine[row]
        if start[row] < latest[at] or (start[row] == latest[at] and end[row] < latest[at + 1]):
            return False
        latest[at], latest[at + 1] = start[row], end[row]
    return True
