"""One task after another, to the resource with the least key: OLAR and MarIn."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import register
from makespan.core.solution import Objective, Solution
from makespan.core.steps import Step, number
from makespan.core.system.memory import claim
from makespan.partition.least_sum.preference import NOT_LOOKED_AT
from makespan.partition.least_sum.relaxation import relaxation_at
from makespan.partition.needs import (
    CONVEX,
    EVERY_TASK,
    LEAST_MAKESPAN,
    LEAST_TOTAL,
    LEXICOGRAPHIC,
    MONOTONE,
    NO_DEADLINE,
    NO_OTHER_PREFERENCE,
)
from makespan.partition.plan import no_count, no_plan, out_of_reach
from makespan.partition.problem import Partition
from makespan.partition.threshold.search import LARGEST
from makespan.partition.timing import timed

NOT_CONVEX = "the costs grow more slowly somewhere by less than rounding, and that matters"
BYTES_PER_ENTRY = 40  # a float of Python, and its place in a list

Key = Callable[[float, float], float]
"""From a resource's present cost and its cost with one more task to the key of that task."""


@register(
    "partition",
    name="olar",
    needs=(LEAST_MAKESPAN, EVERY_TASK, NO_DEADLINE, LEXICOGRAPHIC, MONOTONE),
    proves="exchange argument for costs that never fall (Pilla 2021, theorem 1)",
    published=True,
    complexity="O(n + T log n)",
    source="Pilla 2021, algorithm 1",
)
def olar(problem: Partition, control: Control) -> Solution:
    """Optimum where costs never fall, by a heap: each task goes where it ends first.

    Among equal ends the first resource is taken, which gives another optimum than the
    lexicographically least.
    """
    amounts = _handed_out(problem, lambda now, then: then, control)
    if isinstance(amounts, Solution):
        return amounts
    return Solution(schedule=timed(problem, amounts), optimal=True, notes=(NOT_LOOKED_AT,))


@register(
    "partition",
    name="marin",
    needs=(LEAST_TOTAL, EVERY_TASK, NO_DEADLINE, NO_OTHER_PREFERENCE, CONVEX),
    proves="exchange argument for marginal costs that never fall, to within rounding",
    published=True,
    complexity="O(n + T log n)",
    source="Pilla 2022 (federated learning), MarIn",
)
def marin(problem: Partition, control: Control) -> Solution:
    """Least sum of times where costs never grow more slowly: each task goes where it adds least."""
    amounts = _handed_out(problem, lambda now, then: then - now, control)
    if isinstance(amounts, Solution):
        return amounts
    value = math.fsum(problem.costs_of(amounts).tolist())
    proved = _is_least(problem, amounts)
    return Solution(
        schedule=timed(problem, amounts),
        optimal=proved,
        objective=Objective(name="total", value=value, bound=value if proved else None),
        notes=() if proved else (NOT_CONVEX,),
    )


def _is_least(problem: Partition, amounts: Integers) -> bool:
    """Whether at the price of the last task no count of any resource would be better."""
    choices, weights = problem.choices, problem.choices.table.values
    entries = choices.low + (amounts - choices.least_counts)
    taken = entries[entries > choices.low]
    price = float((weights[taken] - weights[taken - 1]).max(initial=0.0))
    return relaxation_at(choices, weights, LARGEST, problem.tasks, entries, price).supported


def _handed_out(problem: Partition, key: Key, control: Control) -> Integers | Solution:
    """Return the counts after every task went to the resource with the least key for it.

    Equal keys go to the first resource. Without a plan, the solution says whether the limits
    forbid one; else the time was up. The rows must be contiguous.

    Complexity: O(n + T log n).
    """
    choices = problem.choices
    if len(choices.empty_rows):
        return no_plan(no_count(problem, int(choices.empty_rows[0])))
    lower = choices.least_counts
    why = out_of_reach(problem, int(lower.sum()), int(choices.greatest_counts.sum()))
    if why is not None:
        return no_plan(why)
    claim(BYTES_PER_ENTRY * choices.size, f"lists of {choices.size:,} costs")
    rows = [
        choices.table.values[low:high].tolist()
        for low, high in zip(choices.low.tolist(), choices.high.tolist(), strict=True)
    ]
    given = [0] * len(rows)
    heap = [(key(row[0], row[1]), index) for index, row in enumerate(rows) if len(row) > 1]
    heapq.heapify(heap)
    for _ in range(problem.tasks - int(lower.sum())):
        if control.expired():
            return Solution(schedule=None)
        index = heap[0][1]
        given[index] += 1
        row, count = rows[index], given[index]
        if control.log_steps:
            _log(problem, control, sum(given), index, count, row[count])
        if count + 1 < len(row):
            heapq.heapreplace(heap, (key(row[count], row[count + 1]), index))
        else:
            heapq.heappop(heap)
    return lower + np.array(given, dtype=np.int64)


def _log(
    problem: Partition, control: Control, task: int, index: int, count: int, cost: float
) -> None:
    name = problem.machines[index]
    control.step(
        Step(
            text=f"task {task} to {name}: {count} there, which cost {number(cost)}",
            cells={"task": task, "to": name, "tasks there": count, "cost": cost},
            values={"tasks placed": task},
        )
    )
