"""First fit: every task goes to the first machine that has room for it."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers, readonly
from makespan.core.numeric.jit import loop

SLICE = 1 << 18
"""After so many tasks the clock is read."""


def first_fit(seconds: Floats, machines: int, capacity: float, control: Control) -> Integers | None:
    """Return the machine of each task, or None where a task finds no room, or the time was up.

    Parameters
    ----------
    seconds
        The durations, in the order in which the tasks are placed.
    machines
        How many machines there are.
    capacity
        Seconds that each may work.

    Complexity: O(n m) for few tasks and machines, else O(n log m) in a compiled loop.
    """
    if not to_leaves.pays(len(seconds) * machines):
        return _plain(seconds, machines, capacity)
    chosen = np.empty(len(seconds), dtype=np.int64)
    room = _tree(machines, capacity)
    for first in range(0, len(seconds), SLICE):
        part = slice(first, first + SLICE)
        if control.expired() or not to_leaves.compiled(
            *readonly(seconds[part]), room, chosen[part]
        ):
            return None
    return chosen


def _tree(machines: int, capacity: float) -> Floats:
    """Return the tree of greatest rooms: node k has the children 2 k and 2 k + 1."""
    leaves = 1 << (machines - 1).bit_length()
    room = np.full(2 * leaves, -1.0)
    room[leaves : leaves + machines] = capacity
    level = leaves
    while level > 1:
        room[level // 2 : level] = room[level : 2 * level].reshape(-1, 2).max(axis=1)
        level //= 2
    return room


def _plain(seconds: Floats, machines: int, capacity: float) -> Integers | None:
    room = [capacity] * machines
    chosen = []
    for duration in seconds.tolist():
        for machine in range(machines):
            if duration <= room[machine]:
                break
        else:
            return None
        room[machine] -= duration
        chosen.append(machine)
    return np.array(chosen, dtype=np.int64)


@loop(pays_from=300_000)  # tasks times machines
def to_leaves(seconds, room, chosen):  # type: ignore[no-untyped-def]
    """Write the first machine with room for each task; False where none has.

    ``room`` is a complete binary tree that holds the greatest room below each node, so that the
    leftmost leaf with room is found in log m steps; it is kept between calls.
    """
    leaves = len(room) // 2
    for task in range(len(seconds)):
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
