"""Round-optimal schedules on circulant graphs."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.reduction.needs import (
    FREE_ORDER,
    GIVEN_COUNT,
    ONE_WAY,
    OPEN_PLAN,
    SAME_TIMES,
)
from makespan.reduction.problem import Reduction
from makespan.reduction.rules.circulant import circulate, receive
from makespan.reduction.rules.reversal import schedule_from_copies
from makespan.reduction.sends import claim_sends


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
    source="Träff 2024, receive schedules on circulant graphs",
)
def circulant(problem: Reduction, control: Control) -> Solution:
    """In round k, machine r gives to machine r + skip[k]; every machine gets a new segment in
    every round once it has one.
    """
    assert problem.segments != "auto"
    machines, segments = len(problem.machines), problem.segments
    claim_sends(problem)
    copies, _ = _copies(machines, segments)
    return Solution(schedule=schedule_from_copies(problem, copies), optimal=True)


def _copies(machines: int, segments: int) -> tuple[Integers, Integers]:
    """Return the rows (giver, taker, segment) and their rounds."""
    copies = np.empty(((machines - 1) * segments, 3), dtype=np.int64)
    rounds = np.empty(len(copies), dtype=np.int64)
    if len(copies):
        takes = takes_of(machines)
        skips = np.array(skips_of(machines), dtype=np.int64)
        circulate.at(len(copies))(skips, takes, segments, copies, rounds)
    return copies, rounds


def takes_of(machines: int) -> Integers:
    """Return what every machine receives in each round of a phase; the root's row has no meaning.

    >>> takes_of(4)[1:].tolist()
    [[0, -1], [-2, 1], [-1, 0]]
    """
    skips = np.array(skips_of(machines), dtype=np.int64)
    takes = np.zeros((machines, len(skips) - 1), dtype=np.int64)
    receive.at(machines)(skips, takes)
    return takes


def skips_of(machines: int) -> list[int]:
    """Return the skips of the circulant graph: halves of n, rounded up, and n itself.

    >>> skips_of(11)
    [1, 2, 3, 6, 11]
    """
    skips = [machines]
    while skips[0] > 1:
        skips.insert(0, (skips[0] + 1) // 2)
    return skips
