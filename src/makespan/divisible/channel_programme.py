"""The linear programme for many chunks with returns, on one channel or on two."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from makespan.backends.highs import Programme, Verdict
from makespan.core.control import Control
from makespan.core.schedule import Floats, Integers
from makespan.divisible.plan import Plan
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.scale import seconds_scale, units_scale
from makespan.divisible.sequences import Sized


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

    Source: paper 004, section 5, for a given order; the optimum that equation 17 misses.
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
    last: dict[int, int] = {}
    for k, worker in enumerate(workers.tolist()):
        after = [(done[k], 1.0), (sent[k], -1.0), (amount[k], -costs.send[k] - costs.compute[k])]
        _at_least(programme, after, costs.send_fixed[k] + costs.compute_fixed[k])
        if worker in last:
            own = [(done[k], 1.0), (done[last[worker]], -1.0), (amount[k], -costs.compute[k])]
            _at_least(programme, own, costs.compute_fixed[k])
        last[worker] = k
        _at_least(programme, [(back[k], 1.0), (done[k], -1.0)], 0.0)
        over = [(end, 1.0), (back[k], -1.0), (amount[k], -costs.back[k])]
        _at_least(programme, over, costs.back_fixed[k])
    for channel in _channels(problem, order):
        for first, second_ in zip(channel[:-1].tolist(), channel[1:].tolist(), strict=True):
            chunk = first if first >= 0 else -1 - first
            start, per_unit, fixed = (
                (sent[chunk], costs.send[chunk], costs.send_fixed[chunk])
                if first >= 0
                else (back[chunk], costs.back[chunk], costs.back_fixed[chunk])
            )
            then = sent[second_] if second_ >= 0 else back[-1 - second_]
            _at_least(programme, [(then, 1.0), (start, -1.0), (amount[chunk], -per_unit)], fixed)
    programme.row(amount, 1.0, low=problem.load / unit, high=problem.load / unit)
    answer = programme.solve(control)
    if answer.verdict is not Verdict.OPTIMAL:
        return None
    amounts = np.maximum(answer.values[amount], 0.0)
    amounts *= problem.load / amounts.sum()
    plan = Plan.of(workers, amounts, transfers=order)
    return Sized(plan=plan, makespan=answer.value * second, optimal=True)


def _channels(problem: DivisibleLoad, order: Integers) -> tuple[Integers, ...]:
    return (order,) if problem.ports == 1 else (order[order >= 0], order[order < 0])


def _at_least(programme: Programme, terms: list[tuple[int, float]], value: float) -> None:
    indices, values = zip(*terms, strict=True)
    programme.row(list(indices), list(values), low=float(value))


class _Costs:
    """The costs of every chunk: seconds per scaled unit, and fixed, scaled."""

    def __init__(
        self, problem: DivisibleLoad, workers: Integers, scale: float, second: float
    ) -> None:
        star = problem.star

        def per_unit(column: Floats) -> list[float]:
            return [float(value) for value in column[workers] * scale]

        def fixed(column: Floats) -> list[float]:
            return [float(value) for value in column[workers] / second]

        self.send, self.send_fixed = per_unit(star.send_per_unit), fixed(star.send_fixed)
        self.compute = per_unit(star.compute_per_unit)
        self.compute_fixed = fixed(star.compute_fixed)
        self.back, self.back_fixed = per_unit(star.return_per_unit), fixed(star.return_fixed)
