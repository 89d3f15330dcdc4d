"""First fit: every task goes to the first machine that has room for it."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers, readonly
from makespan.core.numeric.jit import pays

PAYS_FROM = 300_000
"""Tasks times machines from which the compiled loop is worth loading."""
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
    if not pays(len(seconds) * machines, PAYS_FROM):
        return _plain(seconds, machines, capacity)
    from makespan.independent.kernels import first_fit_by_tree

    chosen = np.empty(len(seconds), dtype=np.int64)
    room = _tree(machines, capacity)
    (durations,) = readonly(seconds)
    for first in range(0, len(seconds), SLICE):
        last = min(first + SLICE, len(seconds))
        if control.expired() or not first_fit_by_tree(durations, room, chosen, first, last):
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
