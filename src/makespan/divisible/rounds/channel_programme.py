"""The linear programme for many chunks with returns, on one channel or on two."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from makespan.backends.highs import Programme, Verdict, beside
from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.divisible.model.plan import Plan
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.scale import seconds_scale, units_scale
from makespan.divisible.rounds.sizing import Sized, next_of_worker
from makespan.divisible.timing import timed


def sized_transfers(
    problem: DivisibleLoad, sequence: ArrayLike, transfers: ArrayLike, control: Control
) -> Sized | None:
    """Return the best amounts for chunks in a given order of transfers, or None without any.

    Parameters
    ----------
    problem
        A star on which every worker of the sequence returns its results; the master does not
        compute. With one port all transfers exclude each other; with two, sends exclude sends
        and returns exclude returns.
    sequence
        The worker of each chunk.
    transfers
        The order of transfers: ``k`` sends chunk k, ``-1 - k`` returns it.

    Variables are the amounts, the starts of transfers and the ends of computations; a transfer
    waits for the one before it on its channel, a computation for its send and for the chunk
    before it on the same worker, a return for its computation. Sparse.

    Source: Yang and Casanova 2003, section 5, for a given order; the optimum that eq. 17 misses.
    """
    assert problem.load is not None
    workers = np.asarray(sequence, dtype=np.int64)
    order = np.asarray(transfers, dtype=np.int64)
    second, unit = seconds_scale(problem), units_scale(problem)
    costs = _Costs(problem, workers, unit / second, second)
    count = len(workers)
    programme = Programme()
    amount = programme.variables(count)
    sent, done, back = (programme.variables(count) for _ in range(3))  # starts, ends, starts
    end = int(programme.variables(1, cost=1.0)[0])
    at_least = programme.rows
    work = costs.send + costs.compute
    fixed = costs.send_fixed + costs.compute_fixed
    at_least(beside(done, sent, amount), beside(1.0, -1.0, -work), low=fixed)
    later = next_of_worker(workers)
    first = np.flatnonzero(later >= 0)
    then = later[first]
    own = beside(done[then], done[first], amount[then])
    at_least(own, beside(1.0, -1.0, -costs.compute[then]), low=costs.compute_fixed[then])
    at_least(beside(back, done), [1.0, -1.0], low=0.0)
    over = beside(end, back, amount)
    at_least(over, beside(1.0, -1.0, -costs.back), low=costs.back_fixed)
    for channel in _channels(problem, order):
        chunk = np.where(channel >= 0, channel, -1 - channel)
        sends = channel >= 0
        start = np.where(sends, sent[chunk], back[chunk])
        per_unit = np.where(sends, costs.send[chunk], costs.back[chunk])[:-1]
        fixed = np.where(sends, costs.send_fixed[chunk], costs.back_fixed[chunk])[:-1]
        follows = beside(start[1:], start[:-1], amount[chunk[:-1]])
        at_least(follows, beside(1.0, -1.0, -per_unit), low=fixed)
    total = problem.load / unit
    programme.rows(amount[np.newaxis], 1.0, low=total, high=total)
    answer = programme.solve(control)
    if answer.verdict is not Verdict.OPTIMAL:
        return None
    amounts = np.maximum(answer.values[amount], 0.0)
    plan = Plan.of(workers, amounts, transfers=order).fitted(problem.load)
    makespan = timed(problem, plan).makespan
    return Sized(plan=plan, makespan=makespan, optimal=answer.proves(makespan / second))


def _channels(problem: DivisibleLoad, order: Integers) -> tuple[Integers, ...]:
    return (order,) if problem.ports == 1 else (order[order >= 0], order[order < 0])


class _Costs:
    """The costs of every chunk: seconds per scaled unit, and fixed, scaled."""

    def __init__(
        self, problem: DivisibleLoad, workers: Integers, scale: float, second: float
    ) -> None:
        star = problem.star
        self.send = star.send_per_unit[workers] * scale
        self.send_fixed = star.send_fixed[workers] / second
        self.compute = star.compute_per_unit[workers] * scale
        self.compute_fixed = star.compute_fixed[workers] / second
        self.back = star.return_per_unit[workers] * scale
        self.back_fixed = star.return_fixed[workers] / second
