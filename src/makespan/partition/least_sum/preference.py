"""Which of the plans with the least makespan."""

from __future__ import annotations

from contextlib import suppress

from makespan.core.control import Control
from makespan.core.errors import TooLarge
from makespan.core.numeric.arrays import Integers
from makespan.partition.least_sum.search import LATE, least_sum
from makespan.partition.problem import Partition
from makespan.partition.threshold.fewest import fewest_resources
from makespan.partition.threshold.sums import Ends, Expired, Sums

NOT_PREFERRED = (
    "the time was up, or the memory too small, before the preferred of the optimal plans was found"
)
NOT_LOOKED_AT = "'prefer' was not looked at: other plans may have the same makespan"


def preferred(
    problem: Partition, sums: Sums, ends: Ends, tasks: int, control: Control
) -> tuple[Integers, tuple[str, ...]]:
    """Return the entries of the preferred plan at a feasible limit, and notes about it."""
    if problem.prefer == "fewest-resources":
        with suppress(Expired, TooLarge):
            chosen = fewest_resources(problem.choices, ends, tasks, control)
            if chosen is not None:
                return chosen, ()
    if problem.prefer == "least-total":
        weights = problem.choices.table.values
        with suppress(Expired, TooLarge):
            found = least_sum(problem.choices, weights, ends.limit, tasks, control)
            if found is not None and found.proved:
                return found.entries, ()
            if found is not None:
                return found.entries, (LATE,)
    try:
        entries = sums.trace(ends, tasks)
    except Expired as expired:
        raise Expired(expired.bound, ends) from None
    assert entries is not None
    return entries, () if problem.prefer == "lexicographic" else (NOT_PREFERRED,)
