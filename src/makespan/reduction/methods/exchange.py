"""Collectives in which every machine has something for the others: a closed form each.

What is copied forwards in an all-gather is combined backwards in a reduce-scatter, with the same
copies in reversed time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.reduction.bounds import best_bound
from makespan.reduction.needs import (
    COPIED_OR_COMBINED,
    FREE_ORDER,
    GIVEN_COUNT,
    links_between,
    says,
)
from makespan.reduction.problem import Reduction
from makespan.reduction.rules.reversal import schedule_from_copies
from makespan.reduction.rules.steps import logged
from makespan.reduction.sends import claim_sends

Block = tuple[Integers, Integers, Integers]  # givers, takers, and whose segments, of a step
Blocks = Callable[[int, Integers], Iterator[Block]]
DEALT = Need(
    "collective = 'all-gather' or 'reduce-scatter'",
    says("collective", "all-gather", "reduce-scatter"),
)
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


@register(
    "reduction",
    name="direct",
    needs=(
        MANY_ENDS,
        COPIED_OR_COMBINED,
        GIVEN_COUNT,
        FREE_ORDER,
        links_between(lambda problem: _ends(problem, _straight(problem)), "to those that lack it"),
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


def _method(name: str, source: str, *more: Need) -> Callable[[Blocks], Blocks]:
    """Register the method that gathers the blocks that the decorated function yields in order."""

    def decorate(blocks: Blocks) -> Blocks:
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
            rows = np.repeat(table, count[table[:, 2]], axis=0)
            of_block = np.repeat(np.cumsum(count[table[:, 2]]) - count[table[:, 2]],
                                 count[table[:, 2]])  # fmt: skip
            rows[:, 2] += machines * (np.arange(len(rows)) - of_block)
            return _planned(problem, control, rows)

        run.__doc__ = blocks.__doc__
        links = links_between(lambda problem: _ends(problem, rows_of(problem)), "along its blocks")
        needs = (DEALT, GIVEN_COUNT, FREE_ORDER, *more, links)
        register("reduction", name=name, needs=needs, complexity="O(n m)", source=source)(run)
        return blocks

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
