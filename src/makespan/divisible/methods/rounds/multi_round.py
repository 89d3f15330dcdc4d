"""Many rounds on any star: round-robin over chosen subsets, then search on the sequence."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible.model.plan import Plan
from makespan.divisible.needs import (
    A_WORKER,
    ANY_WORKERS,
    FINITE_SPEED,
    NO_GIVEN_SEQUENCE,
    NO_WINDOWS,
    SEQUENCE_OF_CHUNKS,
    SEVERAL_ROUNDS,
    at_most,
)
from makespan.divisible.one_round.linear import with_deadline
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.quick import quick_bound
from makespan.divisible.returns.transfer_programme import best_amounts
from makespan.divisible.rounds.search import Task, search
from makespan.divisible.rounds.sizing import Sized, chained, costs_of, with_idle_master
from makespan.divisible.timing import timed

MAX_CHUNKS_TO_PROGRAMME = 1_500
FEW, BEHIND = 16, 0.6
"""Of the time, for so few workers: for the methods that come behind, which may prove the plan."""


@register(
    "divisible",
    name="multi-round",
    needs=(
        *SEQUENCE_OF_CHUNKS,
        NO_GIVEN_SEQUENCE,
        *NO_WINDOWS,
        ANY_WORKERS,
        SEVERAL_ROUNDS,
        FINITE_SPEED,
        A_WORKER,
    ),
    reach=(at_most(10_000),),
    complexity="a fixed number of sequences, each sized in O(chunks)",
    source="heuristic; sequences are sized as in Benoit 2016, 'No non-initial idle time', and "
    "Yang and Casanova 2003, eqs. 11 to 13, for any star",
)
def multi_round(problem: DivisibleLoad, control: Control, *, effort: float = 1.0) -> Solution:
    """Round-robin over the first workers of several orders, then local search on the sequence.

    The number of rounds is scanned; the search deletes, inserts, replaces, swaps and moves
    chunks, and repeats or drops stretches of them. The amounts of the best sequence are then the
    best for it. Nothing is proved but by the lower bound. ``effort`` is how long to search, as
    a factor.
    """
    assert problem.load is not None
    if problem.load == 0:
        return Solution(schedule=timed(problem, Plan.of([], [])), optimal=True)
    few = len(problem.star) <= FEW
    with control.reserving(BEHIND * (control.remaining or 0.0) if few else 0.0):
        sized = _searched(problem, control, effort)
    if sized is None:
        return Solution(schedule=None, notes=("no sequence without a negative chunk was found",))
    schedule = timed(problem, sized.plan.without_empty())
    return with_deadline(problem, Solution(schedule=schedule, stopped=sized.stopped))


def _searched(problem: DivisibleLoad, control: Control, effort: float) -> Sized | None:
    """Return the best plan found; by an idle master too, where the plan may end before it starts.

    A plan of an idle master that ends later than the master's start-up gains from its help.
    """
    found = _sized(problem, control, effort)
    if not problem.master_computes:
        return found
    alone = _master_alone(problem)
    found = alone if found is None or alone.makespan <= found.makespan else found
    idle = with_idle_master(problem)
    if quick_bound(idle) > problem.star.master_cost.fixed:
        return found
    other = _sized(idle, control, effort)
    both = [each for each in (found, other) if each is not None]
    return min(both, key=lambda each: each.makespan, default=None)


def _master_alone(problem: DivisibleLoad) -> Sized:
    assert problem.load is not None
    plan = Plan.of([], [], master=problem.load)
    end = problem.star.master_cost.of(problem.load)
    return Sized(plan=plan, makespan=end, optimal=False)


def _sized(problem: DivisibleLoad, control: Control, effort: float) -> Sized | None:
    assert problem.load is not None
    rounds = 0 if problem.rounds == "auto" else min(int(problem.rounds), sys.maxsize)
    workers = np.arange(len(problem.star))
    place = workers.copy()
    if problem.order is not None:
        place[problem.workers_in(problem.order)] = workers
    task = Task(
        load=problem.load,
        costs=costs_of(problem),
        most_rounds=rounds,
        place=place,
        ordered=problem.order is not None and rounds > 0,
    )
    found = search(task, _orders(problem, place), control, effort)
    if found is None:
        return None
    sequence, stopped = found
    sized = None
    if len(sequence) <= MAX_CHUNKS_TO_PROGRAMME and not control.expired():
        sized = best_amounts(problem, sequence, control)
    sized = sized or chained(problem, sequence)
    return None if sized is None else replace(sized, stopped=stopped)


def _orders(problem: DivisibleLoad, place: Integers) -> tuple[Integers, ...]:
    """Return the orders to try: by what the port pays for a unit, by speed, by the time alone.

    With fixed costs a worker that computes for T seconds costs the port c + C w/T a unit; T is
    the bound.
    """
    if problem.order is not None:
        return (np.argsort(place, kind="stable"),)
    star = problem.star
    seconds = quick_bound(problem)
    with np.errstate(divide="ignore", invalid="ignore"):
        paid = star.send_per_unit + star.send_fixed * star.compute_per_unit / seconds
    alone = star.send_fixed + star.compute_fixed
    alone = alone + (star.send_per_unit + star.compute_per_unit) * float(problem.load or 0.0)
    keys = (star.send_per_unit, np.nan_to_num(paid), star.compute_per_unit, star.send_fixed, alone)
    orders = [np.argsort(key, kind="stable") for key in keys]
    return tuple(
        order
        for place, order in enumerate(orders)
        if not any(np.array_equal(order, earlier) for earlier in orders[:place])
    )
