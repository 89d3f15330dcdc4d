"""The order of the greedy rule and of backfilling, by looking at every leaf at every step."""

from __future__ import annotations

from typing import Any


def order_of_rule(parents: Any, delays: Any, lasts: Any, works: Any, *, backfilling: bool) -> Any:
    """Return rows [machine, segment]; the tables say what each machine's own send takes."""
    machines, segments = parents.shape
    sending, receiving, combining = [0] * machines, [0] * machines, [0] * machines
    complete = [[0] * segments for _ in range(machines)]
    left = [(segment, machine) for segment in range(segments) for machine in range(1, machines)]
    order = []
    while left:
        least = left[0][0]
        leaves = []
        for segment, machine in left:
            waits = any(at == segment and parents[other, at] == machine for at, other in left)
            if not waits and (backfilling or segment == least):
                to = parents[machine, segment]
                free = max(complete[machine][segment], sending[machine])
                start = max(free, receiving[to] - delays[machine, segment])
                leaves.append((start, segment, machine))
        start, segment, machine = min(leaves)
        to = parents[machine, segment]
        sending[machine] = start + lasts[machine, segment]
        receiving[to] = sending[machine] + delays[machine, segment]
        combining[to] = max(combining[to], receiving[to]) + works[machine, segment]
        complete[to][segment] = combining[to]
        left.remove((segment, machine))
        order.append([machine, segment])
    return order
