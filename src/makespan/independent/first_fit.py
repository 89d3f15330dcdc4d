"""First fit: every task goes to the first machine that has room for it."""

from __future__ import annotations

import numpy as np

from makespan.core.schedule import Floats, Integers

PLAIN_STEPS = 300_000


def first_fit(seconds: Floats, machines: int, capacity: float) -> Integers | None:
    """Return the machine of each task, or None where a task finds no room.

    Parameters
    ----------
    seconds
        The durations, in the order in which the tasks are placed; a writable array.
    machines
        How many machines there are.
    capacity
        Seconds that each may work.

    Complexity: O(n m) for few tasks and machines, else O(n log m) in a compiled loop.
    """
    if len(seconds) * machines <= PLAIN_STEPS:
        return _plain(seconds, machines, capacity)
    from makespan.independent.kernels import first_fit_by_tree

    chosen = np.empty(len(seconds), dtype=np.int64)
    return chosen if first_fit_by_tree(seconds, machines, capacity, chosen) else None


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
