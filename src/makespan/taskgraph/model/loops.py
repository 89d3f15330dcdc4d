"""Loops over graphs: run as they are on lists where little is to do, compiled on arrays else.

What they count as the size of their work are elementary steps.
"""

from __future__ import annotations

from makespan.core.numeric.jit import loop

PAYS_FROM = 2_000_000
"""Elementary steps from which loading a compiler pays off."""
LOADED_FROM = 1_000
"""Elementary steps from which compiled loops are used where the compiler is there already."""

graph_loop = loop(pays_from=PAYS_FROM, loaded_from=LOADED_FROM)


@graph_loop
def topological(first_out, target, waiting, order):  # type: ignore[no-untyped-def]
    """Write a topological order (first ready, first out); return how many tasks it holds.

    ``waiting`` holds the number of predecessors of each task, and is used up.
    """
    tail = 0
    for task in range(len(order)):
        if waiting[task] == 0:
            order[tail] = task
            tail += 1
    head = 0
    while head < tail:
        task = order[head]
        head += 1
        for position in range(first_out[task], first_out[task + 1]):
            successor = target[position]
            waiting[successor] -= 1
            if waiting[successor] == 0:
                order[tail] = successor
                tail += 1
    return tail
