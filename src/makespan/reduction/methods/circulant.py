"""Round-optimal schedules on circulant graphs."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.result import Solution
from makespan.core.schedule import Integers
from makespan.reduction.needs import (
    FREE_ORDER,
    GIVEN_COUNT,
    ONE_WAY,
    OPEN_PLAN,
    SAME_TIMES,
)
from makespan.reduction.problem import Reduction
from makespan.reduction.reversal import schedule_from_copies
from makespan.reduction.sends import claim_sends

ASKED_EVERY = 200  # machines or rounds between looks at the clock


def _latency_or_work(problem: Reduction) -> str | None:
    if problem.times is None:
        return None
    for name, value in zip(("latency", "transfer", "reduce"), problem.times, strict=True):
        if name != "transfer" and value > 0:
            return f"{name} is {value!r}"
    return None


@register(
    "reduction",
    name="circulant",
    needs=(
        ONE_WAY,
        GIVEN_COUNT,
        OPEN_PLAN,
        FREE_ORDER,
        SAME_TIMES,
        Need("no latency and no reduction time", _latency_or_work),
    ),
    proves="(m - 1 + ceil(log2 n)) transfers, the lower bound of Bar-Noy and Kipnis (1994)",
    complexity="O(n log² n + n m)",
    source="J. L. Träff, arXiv 2407.18004, receive schedules on circulant graphs",
)
def circulant(problem: Reduction, control: Control) -> Solution:
    """In round k, machine r gives to machine r + skip[k]; every machine gets a new segment in
    every round once it has one.
    """
    assert problem.segments != "auto"
    machines, segments = len(problem.machines), problem.segments
    claim_sends(problem)
    found = _copies(machines, segments, control)
    if found is None:
        return Solution(schedule=None, notes=("the time was up before the plan was complete",))
    copies, _ = found
    return Solution(schedule=schedule_from_copies(problem, copies), optimal=True)


def _copies(machines: int, segments: int, control: Control) -> tuple[Integers, Integers] | None:
    """Return the rows (giver, taker, segment) and their rounds; None when the time is up."""
    skips = skips_of(machines)
    count = len(skips) - 1
    if count == 0:
        return np.empty((0, 3), dtype=np.int64), np.empty(0, dtype=np.int64)
    takes = np.empty((machines, count), dtype=np.int64)
    for machine in range(machines):
        takes[machine] = takes_of(machine, skips)
        if machine % ASKED_EVERY == 0 and control.expired():
            return None
    total = segments - 1 + count
    empty = -total % count
    rows, rounds = [], []
    has = np.zeros((machines, segments), dtype=bool)
    has[0] = True
    takers = np.arange(machines)
    for turn in range(empty, total + empty):
        if turn % ASKED_EVERY == 0 and control.expired():
            return None
        phase, k = divmod(turn, count)
        block = np.minimum(takes[:, k] + phase * count - empty, segments - 1)
        new = (block >= 0) & ~has[takers, np.maximum(block, 0)]
        taker = takers[new]
        rows.append(np.column_stack([(taker - skips[k]) % machines, taker, block[new]]))
        rounds.append(np.full(len(taker), turn - empty))
        has[taker, block[new]] = True
    return np.concatenate(rows), np.concatenate(rounds)


def skips_of(machines: int) -> list[int]:
    """Return the skips of the circulant graph: halves of n, rounded up, and n itself.

    >>> skips_of(11)
    [1, 2, 3, 6, 11]
    """
    skips = [machines]
    while skips[0] > 1:
        skips.insert(0, (skips[0] + 1) // 2)
    return skips


def base_of(machine: int, skips: list[int]) -> int:
    """Return the first skip on the greedy path from the root: when the machine gets its first."""
    for k in range(len(skips) - 2, -1, -1):
        if skips[k] == machine:
            return k
        if skips[k] < machine:
            machine -= skips[k]
    return len(skips) - 1


def takes_of(machine: int, skips: list[int]) -> list[int]:
    """Return what a machine receives in the rounds 0, 1, … of a phase.

    Entries are relative to the phase: k is the segment that the root gives in round k of it,
    negative ones are of phases before. They come from paths of decreasing skips to the machine,
    found depth first, each later in round k + 1 than in round k, and all with different ends.
    """
    count = len(skips) - 1
    target = machine + skips[count]
    base = base_of(machine, skips)
    # the numbers of skips not used yet, from the greatest on; -1 ends the list
    following = {e: e - 1 for e in range(count + 2)}
    _unlink(following, base)
    found: list[int] = []

    def search(reached: int, least: int, e: int) -> int:
        """Extend the path at ``reached`` by skips of at most number ``e``.

        Paths end before ``least``, the end of the path found last; return the new one.
        """
        while e != -1:
            step = reached + skips[e]
            if len(found) < count and step <= target - skips[len(found)] and step < least:
                if step <= target - skips[len(found) + 1]:
                    least = search(step, least, following[e])
                if len(found) == count or reached > target - skips[len(found) + 1]:
                    return least
                if e not in found and step <= target - skips[len(found)] and step < least:
                    least = step
                    found.append(e)
                    _unlink(following, e)
            e = following[e]
        return least

    search(0, 2 * skips[count], following[count + 1])
    return [base if e == count else e - count for e in found]


def _unlink(following: dict[int, int], number: int) -> None:
    """Take a number out of the list."""
    before = next(e for e, after in following.items() if after == number and e > number)
    following[before] = following[number]
