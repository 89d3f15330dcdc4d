"""The optimum for one segment."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.reduction.needs import FREE_ORDER, ONE_SEGMENT, ONE_WAY, OPEN_PLAN, SAME_TIMES
from makespan.reduction.problem import Reduction
from makespan.reduction.rules.reversal import broadcast_of, schedule_from_copies
from makespan.reduction.rules.steps import logged


@register(
    "reduction",
    name="single-segment",
    needs=(ONE_WAY, ONE_SEGMENT, OPEN_PLAN, FREE_ORDER, SAME_TIMES),
    proves="growth N(t) = N(t - max(transfer, reduce)) + N(t - latency - transfer - reduce)",
    complexity="O(n log n)",
    source="Canon and Antoniu 2013",
)
def single_segment(problem: Reduction, control: Control) -> Solution:
    """Grow the reversed broadcast as fast as it can: whoever can finish a copy first makes it."""
    transfer, latency, prepare, size, _ = broadcast_of(problem)
    lasts, work = transfer[0, 0] * size[0], prepare[0] * size[0]
    length, period = latency[0, 0] + lasts + work, max(lasts, work)
    copies: list[tuple[int, int, int]] = []
    heap = [(length, 0)]
    while len(copies) < len(problem.machines) - 1:
        arrival, giver = heappop(heap)
        taker = len(copies) + 1
        copies.append((giver, taker, 0))
        heappush(heap, (arrival + period, giver))
        heappush(heap, (arrival + length, taker))
    table = np.array(copies, dtype=np.int64).reshape(-1, 3)
    found = Solution(schedule=schedule_from_copies(problem, table), optimal=True)
    return logged(problem, control, found, backwards=True)
