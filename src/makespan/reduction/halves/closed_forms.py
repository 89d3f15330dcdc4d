"""Closed forms: circulant graphs, the growth of one segment, rings, doubling and straight sends."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import ceil

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.numeric.jit import loop
from makespan.core.registry import Need, one_of
from makespan.core.solution import Solution
from makespan.reduction import needs
from makespan.reduction.answer import logged
from makespan.reduction.bounds import best_bound
from makespan.reduction.halves import Planner, planner
from makespan.reduction.heuristics.hierarchical_exchange import grown
from makespan.reduction.heuristics.symmetry import broadcast_of, schedule_from_copies
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import claim_sends


@planner(
    name="circulant",
    needs=(needs.ONE_WAY, *needs.FREE_PLAN, needs.SAME_TIMES),
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
    """Fill in the rows (giver, taker, segment) of each round: all that is due and not there yet."""
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


@planner(
    name="single-segment",
    needs=(needs.ONE_WAY, needs.ONE_SEGMENT, needs.OPEN_PLAN, needs.FREE_ORDER, needs.SAME_TIMES),
    proves="growth N(t) = N(t - max(transfer, reduce)) + N(t - latency - transfer - reduce)",
    complexity="O(n log n)",
    source="Canon and Antoniu 2013",
)
def single_segment(problem: Reduction, control: Control) -> Solution:
    """Grow the reversed broadcast as fast as it can: whoever can finish a copy first makes it."""
    transfer, latency, prepare, size, _ = broadcast_of(problem)
    lasts, work = transfer[0, 0] * size[0], prepare[0] * size[0]
    length, period = latency[0, 0] + lasts + work, max(lasts, work)
    giver = grown(len(problem.machines), length, period)[1:]
    table = np.column_stack([giver, np.arange(1, len(giver) + 1), 0 * giver])
    found = Solution(schedule=schedule_from_copies(problem, table), optimal=True)
    return logged(problem, control, found, backwards=True)


Block = tuple[Integers, Integers, Integers]  # givers, takers, and whose segments, of a step
Blocks = Callable[[int, Integers], Iterator[Block]]
DEALT = one_of("collective", "all-gather", "reduce-scatter")
MANY_ENDS = Need(
    "a collective other than 'reduce' and 'broadcast'",  # for those it is called a star
    lambda problem: (
        f"collective is {problem.collective!r}"
        if problem.collective in ("reduce", "broadcast")
        else None
    ),
)
POWER_OF_TWO = Need(
    "a power of two of machines",
    lambda problem: (
        f"there are {len(problem.machines)}"
        if len(problem.machines) & (len(problem.machines) - 1)
        else None
    ),
    decisive=True,
)


def _straight(problem: Reduction) -> Integers:
    """Return a copy from the first that holds a segment to each that lacks it."""
    holds, lacks = problem.statement.copied
    taker, segment = np.nonzero(lacks)
    return np.column_stack([holds.argmax(axis=0)[segment], taker, segment])


def _ends(problem: Reduction, copies: Integers) -> tuple[Integers, Integers]:
    """Return senders and receivers of copies, in the direction of the problem."""
    giver, taker = copies[:, 0], copies[:, 1]
    return (taker, giver) if problem.statement.combining else (giver, taker)


def _planned(problem: Reduction, control: Control, copies: Integers) -> Solution:
    schedule = schedule_from_copies(problem, copies)
    return logged(problem, control, Solution(schedule=schedule, lower_bound=best_bound(problem)))


@planner(
    name="direct",
    needs=(
        MANY_ENDS,
        needs.COPIED_OR_COMBINED,
        needs.GIVEN_COUNT,
        needs.FREE_ORDER,
        needs.links_between(
            lambda problem: _ends(problem, _straight(problem)), "to those that lack it"
        ),
    ),
    complexity="O(sends log sends)",
    source="pairwise exchange; classical",
)
def direct(problem: Reduction, control: Control) -> Solution:
    """Send every segment straight to where it belongs: in round r, machine i to machine i + r."""
    claim_sends(problem)
    giver, taker, segment = _straight(problem).T
    machines = len(problem.machines)
    order = np.lexsort((segment, taker, giver))
    pair = (giver * machines + taker)[order]
    first = np.flatnonzero(np.r_[True, pair[1:] != pair[:-1]]) if len(pair) else pair
    turn = np.empty_like(order)
    turn[order] = np.arange(len(order)) - np.repeat(first, np.diff(np.r_[first, len(order)]))
    rounds = np.lexsort((giver, (taker - giver) % machines, turn))
    return _planned(problem, control, np.column_stack([giver, taker, segment])[rounds])


def _method(name: str, source: str, *more: Need) -> Callable[[Blocks], Planner]:
    """Register the method that gathers the blocks that the decorated function yields in order."""

    def decorate(blocks: Blocks) -> Planner:
        def rows_of(problem: Reduction) -> Integers:
            machines = len(problem.machines)
            whose = np.arange(min(machines, problem.items))  # others hold nothing
            steps = [np.stack(np.broadcast_arrays(*step)) for step in blocks(machines, whose)]
            rows = [step.reshape(3, -1).T for step in steps]
            return np.concatenate([np.zeros((0, 3), dtype=np.int64), *rows])

        def run(problem: Reduction, control: Control) -> Solution:
            claim_sends(problem)
            machines = len(problem.machines)
            table = rows_of(problem)
            count = np.array([len(range(i, problem.items, machines)) for i in range(machines)])
            times = count[table[:, 2]]
            rows = np.repeat(table, times, axis=0)
            of_block = np.repeat(np.cumsum(times) - times, times)
            rows[:, 2] += machines * (np.arange(len(rows)) - of_block)
            return _planned(problem, control, rows)

        run.__doc__ = blocks.__doc__
        links = needs.links_between(
            lambda problem: _ends(problem, rows_of(problem)), "along its blocks"
        )
        asked = (DEALT, needs.GIVEN_COUNT, needs.FREE_ORDER, *more, links)
        return planner(name=name, needs=asked, complexity="O(n m)", source=source)(run)

    return decorate


@_method("ring", "Patarasuk and Yuan 2009")
def ring(machines: int, whose: Integers) -> Iterator[Block]:
    """Pass on to the next machine of a ring what came from the one before."""
    for step in range(machines - 1):
        machine = (whose + step) % machines
        yield machine, (machine + 1) % machines, whose


@_method("recursive-doubling", "Thakur, Rabenseifner and Gropp 2005", POWER_OF_TWO)
def recursive_doubling(machines: int, whose: Integers) -> Iterator[Block]:
    """Exchange all there is with a machine at twice the distance each step, or half, backwards."""
    distance = 1
    while distance < machines:
        machine = (whose // distance * distance)[:, None] + np.arange(distance)
        yield machine, machine ^ distance, whose[:, None]
        distance *= 2


@_method("bruck", "Bruck, Ho, Kipnis, Upfal and Weathersby 1997")
def bruck(machines: int, whose: Integers) -> Iterator[Block]:
    """Send all there is to a machine at twice the distance each step, for any number."""
    distance = 1
    while distance < machines:
        step = np.arange(min(distance, machines - distance))[:, None]
        machine = (whose - step) % machines
        yield machine, (machine - distance) % machines, whose
        distance *= 2
