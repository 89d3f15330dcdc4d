"""Results return in the reverse order of sending."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.sorting import sorted_by
from makespan.core.registry import Need, register
from makespan.core.schedule import Activity
from makespan.core.solution import Solution
from makespan.divisible.methods.returns.fifo import another_order
from makespan.divisible.model.plan import Plan
from makespan.divisible.needs import RETURNS_ONE_ROUND
from makespan.divisible.one_round.layers import MAX_WORKERS
from makespan.divisible.one_round.linear import as_optimal, linear_plan
from makespan.divisible.one_round.masters import tries_masters
from makespan.divisible.one_round.split import with_returns
from makespan.divisible.one_round.steps import logged
from makespan.divisible.one_round.subsets import solve_latencies
from makespan.divisible.problem import MASTER, DivisibleLoad
from makespan.divisible.returns.plans import (
    keeps_discipline,
    solve_orders,
    without_choice,
)
from makespan.divisible.timing import timed

MAX_SEARCHED = 2_000


def _many(problem: DivisibleLoad) -> str | None:
    count = len(problem.star)
    if count <= MAX_SEARCHED or (_is_plain(problem) and not problem.has_latencies):
        return None
    return f"there are {count:,}"


@register(
    "divisible",
    name="lifo",
    needs=(*RETURNS_ONE_ROUND, another_order("lifo")),
    reach=(Need("a plain star, or at most 2,000 workers", _many),),
    proves="where lifo is asked for: a plain star with send costs c + d (theorem)",
    complexity="O(n log n) without fixed costs; exponential with them",
    source="Beaumont, Marchal and Robert 2005",
)
@tries_masters
def lifo(problem: DivisibleLoad, control: Control) -> Solution:
    """Last in, first out: the optimum of the plain star with sends as long as send and return.

    What is sent up to a worker and what returns from it on are then the same chunks. With memory
    limits, or where some return nothing, the orders are searched.
    """
    simple = without_choice(problem)
    if simple is not None:
        return simple
    if not _is_plain(problem):
        return solve_orders(problem, control, discipline="lifo")
    if problem.has_latencies:
        plain = solve_latencies(_plain(problem), control)
        solution = _with_returns(problem, plain)
    else:
        port = problem.star.send_per_unit + problem.star.return_per_unit
        solution = logged(problem, control, _linear(problem), port, "send and return cost")
    return solution if keeps_discipline(problem, "lifo") else _unproved(solution)


def _linear(problem: DivisibleLoad) -> Solution:
    """Return the closed form of the plain star, carried out with returns."""
    star = problem.star
    port = star.send_per_unit + star.return_per_unit
    order = sorted_by(port) if problem.order is None else problem.workers_in(problem.order)
    plan = linear_plan(problem, order, port, keep_all=problem.order is None)
    return (
        plan
        if isinstance(plan, Solution)
        else as_optimal(problem, with_returns(problem, plan, "lifo"))
    )


def _is_plain(problem: DivisibleLoad) -> bool:
    """Whether the plain star states the problem, and has an exact method."""
    star = problem.star
    if np.isfinite(star.memory).any() or not star.returns.all():
        return False
    if problem.use == "all" and (problem.has_latencies or problem.order is not None):
        return False
    if not (star.send_per_unit + star.compute_per_unit + star.return_per_unit).all():
        return False
    return problem.order is not None or not problem.has_latencies or len(star) <= MAX_WORKERS


def _plain(problem: DivisibleLoad) -> DivisibleLoad:
    """Return the problem without returns whose sends last as long as send and return."""
    star = problem.star
    plain = star.changed(
        send_fixed=star.send_fixed + star.return_fixed,
        send_per_unit=star.send_per_unit + star.return_per_unit,
        return_fixed=0.0,
        return_per_unit=0.0,
    )
    return replace(problem, platform=plain, discipline=None, ports=1)


def _with_returns(problem: DivisibleLoad, solution: Solution) -> Solution:
    """Return the solution of the plain star as one with returns."""
    schedule = solution.schedule
    if schedule is None:
        return solution
    sends, computes = (schedule.rows_of(each) for each in (Activity.SEND, Activity.COMPUTE))
    own = float(schedule.amount[computes[schedule.machine[computes] == MASTER]].sum())
    plan = Plan.of(schedule.peer[sends] - 1, schedule.amount[sends], master=own).without_empty()
    return replace(solution, schedule=timed(problem, with_returns(problem, plan, "lifo")))


def _unproved(solution: Solution) -> Solution:
    """Return a solution of another problem than the one asked without what it proves."""
    objective = solution.objective
    if objective is not None:
        objective = replace(objective, bound=None)
    return replace(solution, infeasible=None, lower_bound=None, optimal=False, objective=objective)
