"""Least makespan for any costs: the least threshold at which counts add up."""

from contextlib import suppress

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import TooLarge
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.core.system.memory import claim
from makespan.partition.least_sum.search import LATE, least_sum
from makespan.partition.model.allowed_counts import Allowed
from makespan.partition.needs import LEAST_MAKESPAN
from makespan.partition.plan import plan
from makespan.partition.problem import Partition
from makespan.partition.threshold.search import least_feasible
from makespan.partition.threshold.sums import Ends, Expired, Sums, added_sums
from makespan.partition.threshold.target import Target, plan_for_target


@register(
    needs=(LEAST_MAKESPAN,),
    proves="no lower threshold lets the allowed counts add up to the tasks (exact sums)",
    complexity="a few reads of the table in practice; O(n T^2 / 64 log T) at worst",
    source="bottleneck search over sums of sets, as subset sums in words (after Pisinger 2003); "
    "statement of Pilla 2022",
)
def threshold(problem: Partition, control: Control) -> Solution:
    """Optimum for any costs: search the least threshold whose allowed counts add up.

    A threshold is feasible if the tasks are a sum of one count per resource that costs no more.
    Sums are sets of bits; only comparisons of given costs decide, so the makespan is exact.
    """

    def search(sums: Sums, target: Target) -> Solution | None:
        ends = least_feasible(sums, target.tasks, target.cap, control)
        if ends is None:
            return None
        entries, notes = preferred(problem, sums, ends, target.tasks, control)
        return plan(problem, entries, optimal=True, notes=(*target.notes, *notes))

    return plan_for_target(problem, control, search)


NOT_PREFERRED = "time or memory ran out before the preferred optimal plan was found"


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


def fewest_resources(choices: Allowed, ends: Ends, tasks: int, control: Control) -> Integers | None:
    """Return the entries of a plan that gives tasks to the fewest resources.

    The sums of every number of resources are kept apart: ``used[k]`` holds the totals that k
    resources with tasks, of those seen so far, can reach. At least as many are needed as the
    greatest counts take to add up to the tasks. Returns None where the time was up first.
    Complexity: O(n k) sums of sets for an optimum of k resources.
    """
    allowed = [ends.allowed(choices.bits, row) for row in range(len(choices))]
    rows = [(entries, choices.table.counts_at(entries, row)) for row, entries in enumerate(allowed)]
    greatest = np.sort([counts[-1] for _, counts in rows])[::-1].cumsum()
    needed = 0 if tasks == 0 else int(np.searchsorted(greatest, tasks)) + 1
    for most in range(needed, len(rows) + 1):
        claim((len(rows) + 1) * (most + 1) * tasks / 8, f"sets of sums up to {tasks:,}")
        entries = _with_at_most(rows, most, tasks, control)
        if control.expired():
            break
        if entries is not None:
            return entries
    return None


def _with_at_most(
    rows: list[tuple[Integers, Integers]], most: int, tasks: int, control: Control
) -> Integers | None:
    """Return a plan with tasks on ``most`` resources or fewer, the last rows decided first."""
    later: list[list[int]] = [[1] + [0] * most]
    for _, counts in reversed(rows):
        if control.expired():
            return None
        later.append(_one_more(later[-1], counts, tasks, control))
    if not any(sums >> tasks & 1 for sums in later.pop()):
        return None
    left, entries = most, []
    for index, counts in rows:
        reached = later.pop()
        for entry, count in zip(index.tolist(), counts.tolist(), strict=True):
            used = 1 if count else 0
            fits = used <= left and count <= tasks
            if fits and any(sums >> (tasks - count) & 1 for sums in reached[: left - used + 1]):
                entries.append(entry)
                tasks -= count
                left -= used
                break
    return np.array(entries, dtype=np.int64)


def _one_more(used: list[int], counts: Integers, tasks: int, control: Control) -> list[int]:
    """Return the sums by number of resources with tasks, after one more resource."""

    def look() -> None:
        if control.expired():
            raise Expired(0)

    positive = counts[counts > 0]
    first = int(positive[0]) if len(positive) else 0
    steps = (positive - first).tolist()
    idle = counts[0] == 0
    new = [sums if idle else 0 for sums in used]
    if len(positive) and first <= tasks:
        for number in range(1, len(used)):
            if used[number - 1]:
                extended = added_sums(used[number - 1], steps, tasks - first, look) << first
                new[number] |= extended & ((2 << tasks) - 1)
    return new
