"""What to say of a plan for one round: whether several rounds would end much earlier."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.registry import applicability, find_method
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.plan import Plan, sends_by_start
from makespan.divisible.problem import MASTER, DivisibleLoad
from makespan.divisible.rates.quick import quick_bound
from makespan.divisible.rounds.chain import size_by_chain
from makespan.divisible.timing import timed

WORTH = 0.05  # the share of the makespan that several rounds have to save
ENOUGH = 0.01  # more rounds have to save as much again
MAX_WORKERS = 1_000
ROUNDS = (2, 3, 4, 6, 8, 12, 16)
FEWER = 0.8


def notes(problem: DivisibleLoad, schedule: Schedule) -> tuple[str, ...]:
    """Return a note where several rounds end at least 5 % before a plan of one round.

    The rounds serve the plan's workers, or the first of them, in its order, and are sized so that
    nobody waits (Benoit 2016, multi-round scheduling); where chunks take longer beyond some size,
    they are equal parts of the plan's. Complexity: O(rounds of n chunks), a few dozen times.
    """
    if not problem.is_star or problem.rounds != 1 or not 0 < len(problem.star) <= MAX_WORKERS:
        return ()
    if problem.given_sends is not None or problem.loads is not None or problem.chooses_master:
        return ()
    several = replace(problem, rounds="auto", options={})
    star, affine = problem.star, several
    if star.beyond:
        affine = replace(several, platform=star.changed(compute_beyond=None))
    if not applicability(find_method(problem.kind, "multi-round"), affine).applies:
        return ()
    limit = (1 - WORTH) * schedule.makespan
    if limit <= 0.0 or quick_bound(several) > limit:
        return ()
    tried = _parts if problem.star.beyond else _plans
    best = min(tried(several, schedule), key=lambda found: found[1], default=None)
    if best is None or best[1] > limit:
        return ()
    rounds, end = best
    saved = 1 - end / schedule.makespan
    return (
        f"one chunk per worker; {rounds} rounds would end at {end:.6g} "
        f"({100 * saved:.0f} % earlier): set rounds = 'auto'",
    )


def _parts(several: DivisibleLoad, schedule: Schedule) -> Iterator[tuple[int, float]]:
    """Yield numbers of rounds and the ends of plans of equal parts of a plan's chunks."""
    sends = sends_by_start(schedule)
    worker, amount = schedule.peer[sends] - 1, schedule.amount[sends]
    mine = (schedule.kind == Activity.COMPUTE) & (schedule.machine == MASTER)
    own = float(schedule.amount[mine].sum())
    least = np.inf
    for rounds in ROUNDS:
        parts = Plan.of(np.tile(worker, rounds), np.tile(amount / rounds, rounds), master=own)
        end = timed(several, parts).makespan
        if end > least * (1 - ENOUGH):
            return
        least = end
        yield rounds, end


def _plans(several: DivisibleLoad, schedule: Schedule) -> Iterator[tuple[int, float]]:
    """Yield numbers of rounds and ends of plans that serve the first workers of a plan in turn."""
    order: Integers = schedule.peer[sends_by_start(schedule)] - 1
    while len(order):
        end = np.inf
        for rounds in ROUNDS:
            with np.errstate(all="ignore"):
                sized = size_by_chain(several, np.tile(order, rounds))
            if sized is None or sized.makespan > end * (1 - ENOUGH):
                break
            end = sized.makespan
            yield rounds, end
        order = order[: int(FEWER * len(order))]
