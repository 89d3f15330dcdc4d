"""All workers by non-decreasing send cost: right for large loads, latencies included."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.result import Solution
from makespan.core.schedule import Floats, Integers
from makespan.divisible.linear import problem_master_computes
from makespan.divisible.needs import NO_RETURNS, ONE_SEND_AT_A_TIME, SPLIT_ONE_ROUND
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.split import one_round, service_order
from makespan.divisible.timing import master_cost


@register(
    "divisible",
    name="large-load",
    needs=(*SPLIT_ONE_ROUND, NO_RETURNS, ONE_SEND_AT_A_TIME),
    complexity="O(n log n + n log k) for k workers dropped",
    source="paper 002 (A. Benoit, 2016), latencies, known results for large loads",
)
def large_load(problem: DivisibleLoad, control: Control) -> Solution:
    """Serve all by non-decreasing send cost so that all finish together; drop the workers that
    would get less than nothing. Optimal for large loads, a heuristic otherwise.
    """
    assert problem.load is not None
    star = problem.platform
    workers = service_order(problem)
    with_master = problem_master_computes(problem)
    while True:
        amount, own = _equal_finish(problem, workers, with_master)
        negative = np.flatnonzero(amount < 0)
        if own < 0:
            with_master = False
        elif len(negative):  # the later half: dropping a worker makes room for those before it
            workers = np.delete(workers, negative[len(negative) // 2 :])
        else:
            break
    if not len(workers) and not with_master and problem.load > 0:
        return Solution(schedule=None, infeasible="there is no machine to compute the load")
    loads = np.zeros(len(star))
    loads[workers] = amount
    return one_round(problem, loads, own)


def _equal_finish(
    problem: DivisibleLoad, workers: Integers, with_master: bool
) -> tuple[Floats, float]:
    """Return the loads with which the workers, served in this order, and the master end together.

    The load of each is affine in the common end T: both coefficients follow the time that is
    left when the worker's transfer starts.
    """
    star = problem.platform
    left, spent = 1.0, 0.0  # the time left is ``left * T - spent``
    slope, offset = np.zeros(len(workers)), np.zeros(len(workers))
    for position, worker in enumerate(workers.tolist()):
        c, w = float(star.send_per_unit[worker]), float(star.compute_per_unit[worker])
        latency = float(star.send_fixed[worker])
        start_up = latency + float(star.compute_fixed[worker])
        if c + w == 0:
            continue
        slope[position] = left / (c + w)
        offset[position] = (spent + start_up) / (c + w)
        left -= c * slope[position]
        spent += latency - c * offset[position]
    own = master_cost(star)
    computes = with_master and own.per_unit > 0
    own_slope = 1.0 / own.per_unit if computes else 0.0
    own_offset = own.fixed / own.per_unit if computes else 0.0
    assert problem.load is not None
    rate = float(slope.sum()) + own_slope
    if rate == 0.0:
        return np.zeros(len(workers)), 0.0
    end = (problem.load + float(offset.sum()) + own_offset) / rate
    return slope * end - offset, own_slope * end - own_offset
