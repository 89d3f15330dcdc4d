"""Many rounds with returns on one port: all sends first, then all results."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.divisible.methods.rounds.multi_installment_output import MANY_WITH_RETURNS
from makespan.divisible.model.plan import sends_then_returns
from makespan.divisible.needs import ONE_PORT, SEVERAL_ROUNDS, SOME_LOAD, at_most
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns.transfer_programme import sized_transfers
from makespan.divisible.rounds.sizing import Sized
from makespan.divisible.timing import timed

MAX_CHUNKS = 400
WORSE_ROUNDS = 2
Transfers = Callable[[int], Integers]


def _partial_returns(problem: DivisibleLoad) -> str | None:
    without = np.flatnonzero(~problem.star.returns)
    return f"platform.workers[{without[0]}].return is 0" if len(without) else None


ROUNDS_WITH_RETURNS = (
    *MANY_WITH_RETURNS,
    SOME_LOAD,
    SEVERAL_ROUNDS,
    Need("returns from every worker", _partial_returns),
)


@register(
    "divisible",
    name="sends-first",
    needs=(*ROUNDS_WITH_RETURNS, ONE_PORT),
    reach=(at_most(2_000),),
    complexity="a sparse linear programme for each number of rounds and workers tried",
    source="linear programme for the order of Yang and Casanova 2003, section 5, that loses "
    "nothing on one port with room for all chunks: sends first, results last",
)
def sends_first(problem: DivisibleLoad, control: Control) -> Solution:
    """Round-robin sends, then all results in the same order; amounts by linear programme.

    On one port and with room for all chunks it loses nothing to send everything first: a result
    that comes between two sends can change places with the next send. The workers tried are the
    first few by send cost; the number of rounds is given or scanned.
    """
    sized = best_rounds(problem, _all_sends_first, control)
    if sized is None:
        return Solution(schedule=None)
    return Solution(schedule=timed(problem, sized.plan.without_empty()))


def _all_sends_first(count: int) -> Integers:
    return sends_then_returns(count, np.arange(count))


def best_rounds(problem: DivisibleLoad, transfers: Transfers, control: Control) -> Sized | None:
    """Return the best plan over a few subsets of the workers and numbers of rounds."""
    order = problem.star.by_send_cost
    if problem.order is not None:
        order = problem.workers_in(problem.order)
    best: Sized | None = None
    for workers in _subsets(order):
        for sized in _scanned(problem, workers, transfers, control):
            if best is None or sized.makespan < best.makespan:
                best = sized
    return best


def _subsets(order: Integers) -> list[Integers]:
    counts = {len(order), *(max(1, len(order) - drop) for drop in (1, 2, len(order) // 2))}
    return [order[:count] for count in sorted(counts, reverse=True)]


def _scanned(
    problem: DivisibleLoad, workers: Integers, transfers: Transfers, control: Control
) -> Iterator[Sized]:
    """Yield the plans for more and more rounds, until more are worse a few times."""
    most = MAX_CHUNKS // len(workers) if problem.rounds == "auto" else int(problem.rounds)
    least, worse = np.inf, 0
    for rounds in range(1, most + 1):
        if worse >= WORSE_ROUNDS or control.expired():
            return
        sequence = np.tile(workers, rounds)
        sized = sized_transfers(problem, sequence, transfers(len(sequence)), control)
        if sized is None:
            return
        worse = 0 if sized.makespan < least * (1 - 1e-5) else worse + 1
        least = min(least, sized.makespan)
        yield sized
