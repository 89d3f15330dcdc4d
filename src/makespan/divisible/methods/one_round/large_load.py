"""All workers by non-decreasing send cost: right for large loads, latencies included."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible.needs import (
    AFFINE_WORK,
    ANY_WORKERS,
    FINITE_RATES,
    NO_RETURNS,
    ONE_SEND_AT_A_TIME,
    SPLIT_ONE_ROUND,
)
from makespan.divisible.one_round.ending_together import Costs, without_late
from makespan.divisible.one_round.split import in_turn, one_round, service_order
from makespan.divisible.one_round.steps import logged
from makespan.divisible.problem import DivisibleLoad


@register(
    "divisible",
    name="large-load",
    needs=(
        *SPLIT_ONE_ROUND,
        FINITE_RATES,
        NO_RETURNS,
        ONE_SEND_AT_A_TIME,
        ANY_WORKERS,
        AFFINE_WORK,
    ),
    complexity="O(n log n + n log k) for k workers dropped",
    source="Benoit 2016, latencies, known results for large loads",
)
def large_load(problem: DivisibleLoad, control: Control) -> Solution:
    """All by non-decreasing send cost, ending together; right for large loads with latencies.

    Workers that would get less than nothing are dropped. A heuristic for small loads.
    """
    assert problem.load is not None
    if problem.load == 0.0:
        return one_round(problem, np.zeros(len(problem.star)), 0.0)
    costs = Costs.of(problem)
    end, workers, amount = without_late(costs, service_order(problem), problem.load)
    if np.isinf(end):
        return Solution(schedule=None, infeasible="there is no machine to compute the load")
    plan = in_turn(problem, workers, amount, costs.own_load(end))
    return logged(problem, control, plan, problem.star.send_per_unit, "send cost")
