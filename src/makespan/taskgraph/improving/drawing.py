"""What local searches draw at random: a task of the chain that ends last, and where it may go."""

from __future__ import annotations

from makespan.core.numeric.jit import part
from makespan.core.numeric.random import next_minimal


@part
def draw_task(state, order, end, due, cause, late):  # type: ignore[no-untyped-def]
    """Return a task and the state: any, or half of the time one that the last end waits for.

    Parameters
    ----------
    state
        Of :func:`~makespan.core.numeric.random.next_minimal`.
    order, end, due
        The tasks, when each ends and is due.
    cause
        (task) The task that it waits for, -1 for none.
    late
        How late the plan is; if it is, the chain is that of the task that is latest.
    """
    count = len(order)
    state = next_minimal(state)
    task = state % count
    if state // count % 2 == 0:
        last = order[0]
        for other in range(count):
            if late > 0.0:
                if end[other] - due[other] > end[last] - due[last]:
                    last = other
            elif end[other] > end[last]:
                last = other
        seen = 0
        while last >= 0:  # each of the chain with the same chance
            seen += 1
            state = next_minimal(state)
            if state % seen == 0:
                task = last
            last = cause[last]
    return task, state


@part
def room_in_order(  # type: ignore[no-untyped-def]
    task, first_in, predecessors, first_out, successors, place
):
    """Return the first and the last place between the predecessors and successors of a task."""
    low, high = 0, len(place) - 1
    for position in range(first_in[task], first_in[task + 1]):
        low = max(low, place[predecessors[position]] + 1)
    for position in range(first_out[task], first_out[task + 1]):
        high = min(high, place[successors[position]] - 1)
    return low, high
