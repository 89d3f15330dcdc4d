"""Which of the plans with the least makespan."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.schedule import Integers
from makespan.partition.fewest import fewest_resources
from makespan.partition.least_sum import least_sum
from makespan.partition.problem import Partition
from makespan.partition.sums import Ends, Sums


def preferred(
    problem: Partition, sums: Sums, ends: Ends, tasks: int, control: Control
) -> tuple[Integers, tuple[str, ...]]:
    """Return the entries of the preferred plan at a feasible limit, and notes about it."""
    if problem.prefer == "fewest-resources":
        chosen, proved = fewest_resources(problem.choices, ends, tasks, control)
        if chosen is not None:
            unproved = "the time was up before it was proved that no fewer resources suffice"
            return chosen, () if proved else (unproved,)
    if problem.prefer == "least-total":
        found = least_sum(problem.choices, problem.choices.table.values, ends.limit, tasks, control)
        if found is not None:
            unproved = "the time was up before it was proved that no total is less"
            return found.entries, () if found.proved else (unproved,)
    entries = sums.trace(ends, tasks)
    assert entries is not None
    assert np.all(entries >= 0)
    return entries, ()
