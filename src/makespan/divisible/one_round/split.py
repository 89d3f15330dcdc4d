"""One-round plans from loads that were chosen somehow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import sorted_by
from makespan.core.solution import Solution
from makespan.divisible.model.plan import Plan, sends_then_returns
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import timed


def service_order(problem: DivisibleLoad) -> Integers:
    """Return the given order of service, or the workers by non-decreasing send cost."""
    if problem.order is not None:
        return problem.workers_in(problem.order)
    return problem.star.by_send_cost


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
    order = service_order(problem)
    return in_turn(problem, order, amount[order], master)


def in_turn(problem: DivisibleLoad, worker: Integers, amount: Floats, master: float) -> Solution:
    """Like :func:`one_round`, for some workers and their amounts, in the order of service."""
    assert problem.load is not None
    plan = Plan.of(worker, amount, master=master).fitted(problem.load)
    if problem.use != "all":
        plan = plan.without_empty()
    return Solution(schedule=timed(problem, with_returns(problem, plan)))


def with_returns(problem: DivisibleLoad, plan: Plan, otherwise: str = "fifo") -> Plan:
    """Return a plan of one chunk a worker with results that return as the problem says, or by
    another discipline where it says nothing.
    """
    if not problem.has_returns:
        return plan
    back = np.flatnonzero(problem.star.returns[plan.worker])
    if problem.return_order is not None:
        position = np.empty(len(problem.star), dtype=np.int64)
        position[problem.workers_in(problem.return_order)] = np.arange(len(problem.star))
        back = back[sorted_by(position[plan.worker[back]])]
    elif (problem.discipline or otherwise) == "lifo":
        back = back[::-1]
    return replace(plan, transfers=sends_then_returns(len(plan), back))


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
