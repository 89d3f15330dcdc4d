"""Linear stars: how much of the load each worker does in one second, for a given order.

With linear costs everything scales with the time, so an order of the workers has a *rate*: the
load done per second when all chunks are sized best. The master is a worker with a free link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import kernel
from makespan.core.schedule import Schedule
from makespan.core.solution import Objective, Solution
from makespan.divisible.plan import Plan
from makespan.divisible.platform import Star
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import master_cost, timed

COMPILE_FROM = 3_000  # workers
BLOCK = 30_000  # workers whose shares are computed at a time
NOTHING = float(np.finfo(np.float64).tiny)
"""Products below it lose their digits, and rounding keeps them from ever becoming 0."""

REFEREED = 1e-9
"""How late, relative to its end, the referee lets a plan be: no plan is missed for less."""


def equal_finish_shares(send: Floats, compute: Floats) -> Floats:
    """Return the loads with which all workers, served in the given order, end after 1 s.

    Parameters
    ----------
    send, compute
        Seconds per unit, in the order of service; their sum is positive for every worker.

    Worker j gets ``1/(c_j + w_j)`` of the time that the workers before it leave of the second,
    ``prod_{k<j} w_k/(c_k + w_k)``. Those to whom less is left than any float can tell from nothing
    get 0.

    Source: paper 002, theorems on buses and stars. Complexity: O(workers with a share).

    >>> equal_finish_shares(np.array([1.0, 2.0]), np.array([3.0, 6.0])).tolist()
    [0.25, 0.09375]
    """
    shares = np.zeros(len(send))
    left = 1.0
    for first in range(0, len(send), BLOCK):
        block = slice(first, first + BLOCK)
        total = send[block] + compute[block]
        after = left * np.cumprod(compute[block] / total)
        before = np.concatenate([[left], after[:-1]])
        shares[block] = np.where(before >= NOTHING, before, 0.0) / total
        left = float(after[-1])
        if left < NOTHING:
            break
    return shares


def best_shares(send: Floats, compute: Floats) -> Floats:
    """Return the loads that add up to the most in 1 s for the given order of service.

    Where the order is not by non-decreasing send cost, equal finish is not optimal: a worker is
    used only if the load that the workers after it could do in the same port time is less.
    Backwards over the order, with rate s of the workers after k: worker k is used iff
    ``c_k s < 1``, and then ``s = (1 + s w_k)/(c_k + w_k)``.

    Source: paper 002, bus and star theorems, corrected (a given order that is not sorted may
    drop workers). Complexity: O(n).

    >>> best_shares(np.array([4.0, 1.0]), np.array([2.0, 2.0])).tolist()
    [0.0, 0.3333333333333333]
    """
    used = np.zeros(len(send), dtype=bool)
    run: Any = _compiled_uses() if len(send) >= COMPILE_FROM else _uses
    run(np.asarray(send), np.asarray(compute), used)
    shares = np.zeros(len(send))
    shares[used] = equal_finish_shares(send[used], compute[used])
    return shares


def _uses(send, compute, used):  # type: ignore[no-untyped-def]
    """Fill in who is used, from the last worker to the first."""
    rate = 0.0
    for position in range(len(send) - 1, -1, -1):
        c, w = send[position], compute[position]
        if c * rate < 1.0:
            rate = (1.0 + rate * w) / (c + w)
            used[position] = True


@cache
def _compiled_uses() -> Any:
    return kernel(_uses)


def by_send_cost(star: Star) -> Integers:
    """Return the workers by non-decreasing send cost per unit, ties by index."""
    return star.by_send_cost


def solve_linear(problem: DivisibleLoad, order: Integers, *, keep_all: bool) -> Solution:
    """Return the optimal solution of a linear star for the given order of service.

    Parameters
    ----------
    problem
        A linear, one-round problem with a given master.
    order
        The workers in the order of service.
    keep_all
        Whether the order is known to use every worker, so that equal finish is optimal.
    """
    plan = linear_plan(problem, order, problem.star.send_per_unit, keep_all=keep_all)
    return plan if isinstance(plan, Solution) else as_optimal(problem, plan)


def linear_plan(
    problem: DivisibleLoad, order: Integers, port: Floats, *, keep_all: bool
) -> Plan | Solution:
    """Return the optimal plan of a linear star, or a solution that says why there is none.

    ``port`` is for how long a unit for each worker holds the port; else as :func:`solve_linear`.
    """
    star = problem.star
    own = master_cost(star).per_unit if problem_master_computes(problem) else None
    send, compute = port[order], star.compute_per_unit[order]
    if own == 0.0:
        return _fitting(problem, Plan.of([], [], master=_load_in_no_time(problem)))
    free = np.flatnonzero(send + compute == 0.0)
    if len(free):
        amount = _load_in_no_time(problem)
        return _fitting(problem, Plan.of(order[free[:1]], [amount] if amount else [0.0]))
    shares = equal_finish_shares(send, compute) if keep_all else best_shares(send, compute)
    own_share = 0.0 if own is None else 1.0 / own
    rate = float(shares.sum()) + own_share
    if rate == 0.0:
        if problem.load == 0.0 or problem.load is None:
            return _fitting(problem, Plan.of([], []))
        return Solution(schedule=None, infeasible="there is a load, but no machine to compute it")
    if problem.load is None:
        assert problem.deadline is not None
        seconds = problem.deadline
    else:
        seconds = problem.load / rate
    shares *= seconds
    return _fitting(problem, Plan.of(order, shares, master=own_share * seconds))


def problem_master_computes(problem: DivisibleLoad) -> bool:
    """Whether the master has a compute cost."""
    master = problem.star.master
    return not isinstance(master, str) and master.compute is not None


def _load_in_no_time(problem: DivisibleLoad) -> float:
    """Return the load that a machine without any cost does: all of it."""
    return problem.load if problem.load is not None else float("inf")


def _fitting(problem: DivisibleLoad, plan: Plan) -> Plan | Solution:
    """Return a plan with the chunks that the problem wants, unless its load has no maximum."""
    if not np.isfinite(plan.total):
        return Solution(
            schedule=None,
            notes=("a machine with no cost at all does any load by the deadline: no maximum",),
        )
    return plan.trimmed(problem.use, len(problem.star))


def as_optimal(problem: DivisibleLoad, plan: Plan) -> Solution:
    """Return the solution of a plan that is known to be optimal."""
    schedule = timed(problem, plan)
    if problem.load is None:
        return Solution(
            schedule=schedule,
            optimal=True,
            objective=Objective(name="load", value=plan.total, bound=plan.total, maximise=True),
        )
    return with_deadline(problem, Solution(schedule=schedule, optimal=True))


def with_deadline(problem: DivisibleLoad, solution: Solution) -> Solution:
    """Return a solution, or, where it ends after the deadline, what it and the bounds prove."""
    limit = problem.deadline
    if limit is None or solution.makespan <= limit * (1 + 1e-12):
        return solution
    if solution.optimal:
        least = solution.makespan
    else:
        from makespan.divisible.bounds import quick_bounds

        known = [bound.value for bound in quick_bounds(problem)]
        least = max([solution.lower_bound or 0.0, *known])
    if least > limit * (1 + REFEREED):
        why = f"the deadline is {limit:.12g}, but no plan ends before {least:.12g}"
        return Solution(schedule=None, lower_bound=least, infeasible=why)
    note = f"the best plan found ends at {solution.makespan:.12g}, after the deadline"
    return Solution(schedule=None, lower_bound=least, notes=(note,), stopped=solution.stopped)


def by_the_deadline(
    problem: DivisibleLoad, plan: Plan, behind: Sequence[int] | None = None
) -> tuple[Plan, Schedule]:
    """Return a plan for an open load, smaller where rounding made it end late, and its times."""
    assert problem.deadline is not None
    schedule = timed(problem, plan, behind=behind)
    if schedule.makespan > problem.deadline:
        factor = problem.deadline / schedule.makespan
        plan = replace(plan, amount=plan.amount * factor, master=plan.master * factor)
        schedule = timed(problem, plan, behind=behind)
    return plan, schedule
