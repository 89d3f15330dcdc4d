"""One-round plans from loads that were chosen somehow."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import sorted_by
from makespan.core.solution import Solution
from makespan.divisible.linear import by_send_cost
from makespan.divisible.plan import Plan, sends_then_returns
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import timed


def service_order(problem: DivisibleLoad) -> Integers:
    """Return the given order of service, or the workers by non-decreasing send cost."""
    if problem.order is not None:
        return problem.workers_in(problem.order)
    return by_send_cost(problem.star)


def one_round(problem: DivisibleLoad, amount: Floats, master: float) -> Solution:
    """Send each worker its amount, in the order of service; results return first in, first out.

    Parameters
    ----------
    problem
        The problem, its master given.
    amount
        Units of load per worker, in the order of the platform.
    master
        Units that the master computes.
    """
    assert problem.load is not None
    order = service_order(problem)
    fitted = Plan.of(order, amount[order], master=master).fitted(problem.load)
    amount = np.zeros(len(amount))
    amount[order], master = fitted.amount, fitted.master
    if problem.use != "all":
        order = order[amount[order] > 0]
    transfers = None
    if problem.has_returns:
        transfers = sends_then_returns(len(order), _returns(problem, order))
    plan = Plan.of(order, amount[order], master=master, transfers=transfers)
    return Solution(schedule=timed(problem, plan))


def _returns(problem: DivisibleLoad, order: Integers) -> Integers:
    """Return the chunks in the order in which their results return."""
    chunks = np.arange(len(order))
    if problem.discipline == "lifo":
        return chunks[::-1]
    if problem.return_order is not None:
        position = np.empty(len(problem.star), dtype=np.int64)
        position[problem.workers_in(problem.return_order)] = np.arange(len(problem.star))
        return chunks[sorted_by(position[order])]
    return chunks
