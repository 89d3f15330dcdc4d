"""Installments on equal workers: the recursion of the literature."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible.model.platform import NUMBERS
from makespan.divisible.needs import (
    ANY_WORKERS,
    FINITE_SPEED,
    NO_GIVEN_SEQUENCE,
    NO_WINDOWS,
    SEQUENCE_OF_CHUNKS,
    SOME_LOAD,
    equal_workers,
)
from makespan.divisible.one_round.linear import with_deadline
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rounds.log import log_rounds
from makespan.divisible.rounds.sizing import Sized, chained
from makespan.divisible.timing import timed

MAX_ROUNDS = 100_000
MAX_CHUNKS = 1_000_000


@register(
    "divisible",
    name="multi-installment",
    needs=(
        *SEQUENCE_OF_CHUNKS,
        NO_GIVEN_SEQUENCE,
        SOME_LOAD,
        *NO_WINDOWS,
        equal_workers(*NUMBERS[:4]),
        FINITE_SPEED,
        ANY_WORKERS,
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
        sized = chained(problem, _round_robin(problem, rounds))
        log_rounds(control, rounds, None if sized is None else sized.makespan)
        if sized is None:
            break
        better = best is None or sized.makespan < best.makespan * (1 - 1e-12)
        best, worse = (sized, 0) if better or best is None else (best, worse + 1)
        if worse >= 3 or control.expired() or _is_done(problem, best, rounds):
            break
    return _solution(problem, best)


def _is_done(problem: DivisibleLoad, best: Sized, rounds: int) -> bool:
    """Whether more rounds can't help by more than rounding."""
    from makespan.divisible.rates.quick import quick_bound

    bound = quick_bound(problem)
    return best.makespan <= bound * (1 + 1e-9) or rounds * len(problem.star) > MAX_CHUNKS


def _round_robin(problem: DivisibleLoad, rounds: int) -> np.ndarray:
    workers = np.arange(len(problem.star))
    if problem.order is not None:
        workers = problem.workers_in(problem.order)
    return np.tile(workers, rounds)


def _given_rounds(problem: DivisibleLoad, rounds: int, control: Control) -> Solution:
    """Return the plan with so many rounds, or with as many as need no negative chunk.

    More rounds have smaller chunks, so the most rounds are found by doubling and bisection.
    """
    sized = chained(problem, _round_robin(problem, 1))
    log_rounds(control, 1, None if sized is None else sized.makespan)
    used, high = 1, 2
    most = max(1, min(rounds, MAX_CHUNKS // len(problem.star)))
    while sized is not None and used < most and not control.expired():
        trial = min(high, most)
        found = chained(problem, _round_robin(problem, trial))
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
    schedule = timed(problem, sized.plan.without_empty())
    solution = Solution(schedule=schedule, notes=notes)
    return with_deadline(problem, solution)
