"""Handing out one task after another, to the resource with the least key."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.system.memory import claim
from makespan.partition.problem import Partition

Key = Callable[[float, float], float]
"""From a resource's present cost and its cost with one more task to the key of that task."""

BYTES_PER_ENTRY = 40  # a float of Python, and its place in a list


def handed_out(problem: Partition, key: Key, control: Control) -> Integers | str | None:
    """Return the counts after every task went to the resource with the least key for it.

    Equal keys go to the first resource. Returns a reason where the limits forbid a plan, None
    where the time was up. The rows must be contiguous.

    Complexity: O(n + T log n).
    """
    limits = _limits(problem)
    if isinstance(limits, str):
        return limits
    lower = limits
    choices = problem.choices
    entries = int((choices.high - choices.low).sum())
    claim(BYTES_PER_ENTRY * entries, f"lists of {entries:,} costs")
    rows = [
        choices.table.values[low:high].tolist()
        for low, high in zip(choices.low.tolist(), choices.high.tolist(), strict=True)
    ]
    given = [0] * len(rows)
    heap = [(key(row[0], row[1]), index) for index, row in enumerate(rows) if len(row) > 1]
    heapq.heapify(heap)
    for _ in range(problem.tasks - sum(lower)):
        if control.expired():
            return None
        index = heap[0][1]
        given[index] += 1
        row, count = rows[index], given[index]
        if count + 1 < len(row):
            heapq.heapreplace(heap, (key(row[count], row[count + 1]), index))
        else:
            heapq.heappop(heap)
    return np.array(lower, dtype=np.int64) + np.array(given, dtype=np.int64)


def _limits(problem: Partition) -> list[int] | str:
    """Return the least counts, or why the counts can't add up to the tasks."""
    choices, tasks = problem.choices, problem.tasks
    if len(choices.empty_rows):
        name = problem.machines[int(choices.empty_rows[0])]
        return f"{name!r} has no allowed count up to {tasks}"
    lower: list[int] = choices.least_counts.tolist()
    upper: list[int] = choices.greatest_counts.tolist()
    if sum(lower) > tasks:
        return f"the least allowed counts add up to {sum(lower)}, above the {tasks} tasks"
    if sum(upper) < tasks:
        return f"the greatest allowed counts add up to {sum(upper)}, below the {tasks} tasks"
    return lower
