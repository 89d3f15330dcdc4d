"""Compiled loops for many independent tasks."""

from __future__ import annotations

import numpy as np

from makespan.core.jit import kernel
from makespan.core.schedule import Floats, Integers


@kernel
def first_fit_by_tree(seconds: Floats, machines: int, capacity: float, chosen: Integers) -> bool:
    """Write the first machine with room for each task into ``chosen``; False where none has.

    A complete binary tree holds the greatest room below each node, so that the leftmost leaf
    with room is found in log m steps.
    """
    leaves = 1
    while leaves < machines:
        leaves *= 2
    room = np.full(2 * leaves, -1.0)
    room[leaves : leaves + machines] = capacity
    for node in range(leaves - 1, 0, -1):
        room[node] = max(room[2 * node], room[2 * node + 1])
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
