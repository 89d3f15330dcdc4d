"""Many rounds: the recursion on equal workers, and round-robin, then search, on any star."""

import sys
from dataclasses import replace

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible import needs
from makespan.divisible.model.plan import Plan
from makespan.divisible.model.platform import NUMBERS
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.quick import quick_bound
from makespan.divisible.returns.transfer_programme import best_amounts
from makespan.divisible.rounds.chain import (
    Sized,
    costs_of,
    log_rounds,
    size_by_chain,
    with_idle_master,
)
from makespan.divisible.rounds.search import Task, search
from makespan.divisible.timing import timed

MAX_ROUNDS = 100_000
MAX_CHUNKS = 1_000_000


@register(
    needs=(
        *needs.SEQUENCE_OF_CHUNKS,
        needs.NO_GIVEN_SEQUENCE,
        needs.SOME_LOAD,
        *needs.NO_WINDOWS,
        needs.equal_workers(*NUMBERS[:4]),
        needs.FINITE_SPEED,
        needs.ANY_WORKERS,
    ),
    complexity="O(chunks) for given rounds; a scan over the rounds for 'auto'",
    source="Yang and Casanova 2003, eqs. 11 to 13; Benoit 2016, homogeneous bus, given number of "
    "rounds",
)
def multi_installment(problem: DivisibleLoad, control: Control) -> Solution:
    """Rounds on equal workers by recursion, no idle time; the best number of rounds for 'auto'.

    Proved optimal for the round-robin order of the given rounds; chunks are never negative: where
    the recursion would make one so, fewer rounds are used.
    """
    if problem.rounds != "auto":
        return _given_rounds(problem, int(problem.rounds), control)
    best: Sized | None = None
    worse = 0
    for rounds in range(1, MAX_ROUNDS):
        sized = size_by_chain(problem, _round_robin(problem, rounds))
        log_rounds(control, rounds, None if sized is None else sized.makespan)
        if sized is None:
            break
        better = best is None or sized.makespan < best.makespan * (1 - 1e-12)
        best, worse = (sized, 0) if better or best is None else (best, worse + 1)
        if worse >= 3 or control.expired() or rounds * len(problem.star) > MAX_CHUNKS:
            break
        if best.makespan <= quick_bound(problem) * (1 + 1e-9):  # but for rounding, the optimum
            break
    return _solution(problem, best)


def _round_robin(problem: DivisibleLoad, rounds: int) -> np.ndarray:
    workers = np.arange(len(problem.star))
    if problem.order is not None:
        workers = problem.workers_in(problem.order)
    return np.tile(workers, rounds)


def _given_rounds(problem: DivisibleLoad, rounds: int, control: Control) -> Solution:
    """Return the plan of so many rounds, or of the most without a negative chunk, by bisection."""
    sized = size_by_chain(problem, _round_robin(problem, 1))
    log_rounds(control, 1, None if sized is None else sized.makespan)
    used, high = 1, 2
    most = max(1, min(rounds, MAX_CHUNKS // len(problem.star)))
    while sized is not None and used < most and not control.expired():
        trial = min(high, most)
        found = size_by_chain(problem, _round_robin(problem, trial))
        log_rounds(control, trial, None if found is None else found.makespan)
        if found is not None:
            used, sized, high = trial, found, 2 * trial
        elif trial - used <= 1:
            break
        else:
            most, high = trial, (used + trial) // 2
    notes: tuple[str, ...] = ()
    if sized is not None and used < rounds:
        why = (
            "would need a negative chunk" if used < MAX_CHUNKS // len(problem.star) else "are many"
        )
        notes = (f"{rounds} rounds {why}: {used} are used",)
    return _solution(problem, sized, notes)


def _solution(problem: DivisibleLoad, sized: Sized | None, notes: tuple[str, ...] = ()) -> Solution:
    if sized is None:
        note = "the recursion has no plan without a negative chunk"
        return Solution(schedule=None, notes=(note,))
    return Solution(schedule=timed(problem, sized.plan.without_empty()), notes=notes)


MAX_CHUNKS_TO_PROGRAMME = 1_500
FEW, BEHIND = 16, 0.6
"""Of the time, for so few workers: for the methods that come behind, which may prove the plan."""


@register(
    needs=(
        *needs.SEQUENCE_OF_CHUNKS,
        needs.NO_GIVEN_SEQUENCE,
        *needs.NO_WINDOWS,
        needs.ANY_WORKERS,
        needs.SEVERAL_ROUNDS,
        needs.FINITE_SPEED,
        needs.A_WORKER,
    ),
    reach=(needs.at_most(10_000),),
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
    if problem.total == 0:
        return Solution(schedule=timed(problem, Plan.of([], [])), optimal=True)
    few = len(problem.star) <= FEW
    with control.reserving(BEHIND * (control.remaining or 0.0) if few else 0.0):
        sized = _searched(problem, control, effort)
    if sized is None:
        return Solution(schedule=None, notes=("no sequence without a negative chunk was found",))
    return Solution(schedule=timed(problem, sized.plan.without_empty()), stopped=sized.stopped)


def _searched(problem: DivisibleLoad, control: Control, effort: float) -> Sized | None:
    """Return the best plan found; by an idle master too, where the plan may end before it starts.

    A plan of an idle master that ends later than the master's start-up gains from its help.
    """
    found = _sized(problem, control, effort)
    if not problem.master_computes:
        return found
    plan = Plan.of([], [], master=problem.total)
    alone = Sized(plan=plan, makespan=problem.star.master_cost.of(problem.total), optimal=False)
    found = alone if found is None or alone.makespan <= found.makespan else found
    idle = with_idle_master(problem)
    if quick_bound(idle) > problem.star.master_cost.fixed:
        return found
    both = [each for each in (found, _sized(idle, control, effort)) if each is not None]
    return min(both, key=lambda each: each.makespan, default=None)


def _sized(problem: DivisibleLoad, control: Control, effort: float) -> Sized | None:
    rounds = 0 if problem.rounds == "auto" else min(int(problem.rounds), sys.maxsize)
    workers = np.arange(len(problem.star))
    place = workers.copy()
    if problem.order is not None:
        place[problem.workers_in(problem.order)] = workers
    task = Task(
        load=float(problem.total),  # or its loops are compiled once more
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
    sized = sized or size_by_chain(problem, sequence)
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
