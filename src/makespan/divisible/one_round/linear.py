"""Linear stars: the optimal plan for a given order, and what a deadline leaves of plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Schedule
from makespan.core.solution import Objective, Solution
from makespan.divisible.model.plan import Plan
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.shares import best_shares, equal_finish_shares
from makespan.divisible.timing import timed

REFEREED = 1e-9
"""How late, relative to its end, the referee lets a plan be: no plan is missed for less."""


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
    own = star.master_cost.per_unit if problem.master_computes else None
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
        return of_open_load(schedule, plan.total, proved=True)
    return with_deadline(problem, Solution(schedule=schedule, optimal=True))


def of_open_load(
    schedule: Schedule,
    load: float,
    most: float = np.inf,
    *,
    proved: bool = False,
    stopped: bool = False,
) -> Solution:
    """Return the solution of a plan that does as much as it can; no plan does more than ``most``.

    Where it is ``proved``, none does more than this one.
    """
    bound = load if proved else max(load, most)
    goal = Objective(
        name="load", value=load, bound=bound if np.isfinite(bound) else None, maximise=True
    )
    return Solution(schedule=schedule, objective=goal, optimal=proved, stopped=stopped)


def with_deadline(problem: DivisibleLoad, solution: Solution) -> Solution:
    """Return a solution, or, where it ends after the deadline, what it proves."""
    limit = problem.deadline
    end = solution.makespan
    if limit is None or end - limit <= REFEREED * end:
        return solution
    least, late = solution.lower_bound, f"{end:.12g}"
    if solution.optimal:
        least = end
        if least > limit * (1 + REFEREED):
            why = f"the deadline is {limit:.12g}, but no plan ends before {late}"
            return Solution(schedule=None, lower_bound=least, infeasible=why)
    note = f"the best plan found ends at {late}, after the deadline"
    return Solution(schedule=None, lower_bound=least, notes=(note,), stopped=solution.stopped)


def by_the_deadline(
    problem: DivisibleLoad, plan: Plan, behind: Sequence[int] | None = None
) -> tuple[Plan, Schedule]:
    """Return a plan for an open load, smaller where rounding made it end late, and its times."""
    assert problem.deadline is not None
    schedule = timed(problem, plan, behind=behind)
    if schedule.makespan > problem.deadline and not problem.integral and problem.loads is None:
        factor = problem.deadline / schedule.makespan
        plan = replace(plan, amount=plan.amount * factor, master=plan.master * factor)
        schedule = timed(problem, plan, behind=behind)
    return plan, schedule
