"""Round-optimal schedules on circulant graphs."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.numeric.jit import loop
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.reduction.needs import (
    FREE_ORDER,
    GIVEN_COUNT,
    ONE_WAY,
    OPEN_PLAN,
    SAME_TIMES,
)
from makespan.reduction.problem import Reduction
from makespan.reduction.rules.reversal import schedule_from_copies
from makespan.reduction.rules.steps import logged
from makespan.reduction.sends import claim_sends


@register(
    "reduction",
    name="circulant",
    needs=(
        ONE_WAY,
        GIVEN_COUNT,
        OPEN_PLAN,
        FREE_ORDER,
        SAME_TIMES,
    ),
    proves="(m - 1 + ceil(log2 n)) transfers, the lower bound of Bar-Noy and Kipnis (1994), where "
    "latency and reduction take no time",
    complexity="O(n log² n + n m)",
    source="Träff 2024, receive schedules on circulant graphs; waves that take turns",
)
def circulant(problem: Reduction, control: Control) -> Solution:
    """In round k, machine r gives to machine r + skip[k]: from its first on, each gets one a round.

    Where a copy is under way for longer than it holds a port, other rounds fit between: segments
    are dealt to so many waves, whose rounds take turns.
    """
    assert problem.segments != "auto"
    assert problem.times is not None
    machines, segments = len(problem.machines), problem.segments
    claim_sends(problem)
    latency, transfer, reduce = map(Fraction, problem.times)
    length, period = latency + transfer + reduce, max(transfer, reduce)
    depth = (machines - 1).bit_length()
    fit = (1, length // period, ceil(length / period)) if period else (1,)
    waves = min(
        (min(segments, count) for count in fit if count),
        key=lambda count: (segments + count * (depth - 1)) * max(period, length / count),
    )
    copies = copies_of(machines, segments, waves)
    at_once = latency == reduce == 0
    found = Solution(schedule=schedule_from_copies(problem, copies), optimal=at_once)
    return logged(problem, control, found)


def copies_of(machines: int, segments: int, waves: int = 1) -> Integers:
    """Return the rows (giver, taker, segment) in the order of their rounds."""
    copies = np.empty(((machines - 1) * segments, 3), dtype=np.int64)
    if len(copies):
        takes = takes_of(machines)
        skips = np.array(skips_of(machines), dtype=np.int64)
        circulate.at(len(copies))(skips, takes, segments, waves, copies)
    return copies


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


@loop(pays_from=2_000)
def receive(skips, takes):  # type: ignore[no-untyped-def]
    """Fill in what every machine but the root receives in the rounds 0, 1, … of a phase.

    Entries are relative to the phase: k is the segment that the root gives in round k of it,
    negative ones are of phases before. They come from paths of decreasing skips to the machine,
    found depth first, each later in round k + 1 than in round k, and all with different ends.
    """
    count = len(skips) - 1
    for machine in range(1, skips[count]):
        target = machine + skips[count]
        base, rest = count, machine  # the first skip on the greedy path from the root
        for k in range(count - 1, -1, -1):
            if skips[k] == rest:
                base = k
                break
            if skips[k] < rest:
                rest -= skips[k]
        # the numbers of skips not used yet, from the greatest on, after one that is above all
        following = np.arange(-1, count + 1)
        before = np.arange(1, count + 3)
        used = np.zeros(count + 1, dtype=np.bool_)
        following[before[base]] = following[base]
        if following[base] >= 0:
            before[following[base]] = before[base]
        found = 0
        least = 2 * skips[count]  # new paths end before the one found last
        # the path: where it stands before each skip, and which one it takes
        reached = np.zeros(count + 3, dtype=np.int64)
        skip = np.zeros(count + 3, dtype=np.int64)
        depth = 0
        skip[0] = following[count + 1]
        back = False  # whether all longer paths have been seen
        while depth >= 0:
            e = skip[depth]
            if e < 0:
                depth -= 1
                back = True
                continue
            step = reached[depth] + skips[e]
            if not back:
                if found == count or step > target - skips[found] or step >= least:
                    skip[depth] = following[e]
                    continue
                if step <= target - skips[found + 1]:
                    depth += 1
                    reached[depth] = step
                    skip[depth] = following[e]
                    continue
            back = False
            if found == count or reached[depth] > target - skips[found + 1]:
                skip[depth] = -1
                continue
            if not used[e] and step <= target - skips[found] and step < least:
                least = step
                takes[machine, found] = base if e == count else e - count
                used[e] = True
                found += 1
                following[before[e]] = following[e]
                if following[e] >= 0:
                    before[following[e]] = before[e]
            skip[depth] = following[e]


@loop(pays_from=2_000)
def circulate(skips, takes, segments, waves, copies):  # type: ignore[no-untyped-def]
    """Fill in the rows (giver, taker, segment) in the order of their rounds.

    Every machine gets in every round what is due, unless it has it. Segment s is the s // waves-th
    of wave s mod waves.
    """
    count = len(skips) - 1
    machines = skips[count]
    has = np.zeros((machines, segments), dtype=np.bool_)
    row = 0
    for turn in range((segments + waves - 1) // waves - 1 + count):
        for wave in range(waves):
            last = (segments - 1 - wave) // waves
            total = last + count
            if turn >= total:
                continue
            empty = -total % count
            phase, k = (turn + empty) // count, (turn + empty) % count
            for taker in range(1, machines):
                block = min(takes[taker, k] + phase * count - empty, last)
                segment = block * waves + wave
                if block >= 0 and not has[taker, segment]:
                    has[taker, segment] = True
                    copies[row, 0] = (taker - skips[k]) % machines
                    copies[row, 1] = taker
                    copies[row, 2] = segment
                    row += 1
