"""Empty chunks for the workers that a plan leaves out, where every worker has to take part."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.divisible.model.plan import Plan
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import timed


def with_everyone(problem: DivisibleLoad, plan: Plan) -> Plan:
    """Return the plan with an empty chunk for every worker that it leaves out.

    Parameters
    ----------
    problem
        One round without returns, its master given.
    plan
        At most one chunk a worker.

    An empty chunk pays its fixed costs: before the others it delays them, behind them it may end
    last itself. The workers with the longest fixed costs of computing are served first (Jackson's
    rule); how many of them stand before the others is tried. In a given order each has its place.
    A heuristic.

    Complexity: O(n^2) for n workers.
    """
    idle = np.setdiff1d(np.arange(len(problem.star)), plan.worker)
    if not len(idle):
        return plan
    amount = np.zeros(len(problem.star))
    amount[plan.worker] = plan.amount

    def served(order: Integers) -> Plan:
        return Plan.of(order, amount[order], master=plan.master)

    if problem.order is not None:
        return served(problem.workers_in(problem.order))
    idle = idle[np.argsort(-problem.star.compute_fixed[idle], kind="stable")]
    orders = (np.concatenate([idle[:k], plan.worker, idle[k:]]) for k in range(len(idle) + 1))
    return min(map(served, orders), key=lambda each: timed(problem, each).makespan)
