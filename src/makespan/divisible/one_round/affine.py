"""Affine costs, one round: the loads with which given workers end together."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.divisible.one_round.ending_together import Costs, lines
from makespan.divisible.problem import DivisibleLoad


def equal_finish(
    problem: DivisibleLoad, workers: Integers, *, with_master: bool
) -> tuple[Floats, float]:
    """Return the loads with which the workers, served in this order, and the master end together.

    Parameters
    ----------
    problem
        A one-round problem with a load.
    workers
        Those that take part, in the order of service.
    with_master
        Whether the master computes.

    Returns
    -------
    amounts, master
        Units of load, in the order of service. An entry is negative where a worker's fixed costs
        last beyond the common end: then the workers can't all take part and end together.

    The load of each is affine in the common end T, and so is the time ``left * T - spent`` that
    is left when its transfer starts.

    Source: Benoit 2016, latencies: all participating workers finish together in some optimum.
    """
    star = problem.star
    assert problem.load is not None
    slope, offset = lines(Costs.of(problem), workers)
    own = star.master_cost
    computes = with_master and own.per_unit > 0
    own_slope = 1.0 / own.per_unit if computes else 0.0
    own_offset = own.fixed / own.per_unit if computes else 0.0
    rate = float(slope.sum()) + own_slope
    if rate == 0.0:
        return np.zeros(len(workers)), 0.0
    end = (problem.load + float(offset.sum()) + own_offset) / rate
    slope *= end
    slope -= offset
    return slope, own_slope * end - own_offset
