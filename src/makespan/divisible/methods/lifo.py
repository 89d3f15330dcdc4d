"""Results return in the reverse order of sending."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.result import Solution
from makespan.core.schedule import Activity, Integers
from makespan.divisible.latencies import solve_latencies
from makespan.divisible.layers import MOST_WORKERS, Layers
from makespan.divisible.linear import by_send_cost, solve_linear
from makespan.divisible.masters import tries_masters
from makespan.divisible.methods.fifo import another_order
from makespan.divisible.needs import RETURNS_ONE_ROUND
from makespan.divisible.newton import Search
from makespan.divisible.order_rules import Rule
from makespan.divisible.platform import NUMBERS, Star
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.return_plans import keeps_discipline, solve_orders, without_choice
from makespan.divisible.returns import Terms, orders_of, plan_of
from makespan.divisible.selection import Chain
from makespan.divisible.sequence import Costs
from makespan.divisible.timing import timed

MOST_SEARCHED = 2_000


def _many(problem: DivisibleLoad) -> str | None:
    count = len(problem.star)
    if count <= MOST_SEARCHED or (_is_plain(problem) and not problem.has_latencies):
        return None
    return f"there are {count:,}"


@register(
    "divisible",
    name="lifo",
    needs=(*RETURNS_ONE_ROUND, another_order("lifo")),
    reach=(Need("a plain star, or at most 2,000 workers", _many),),
    proves="where lifo is asked for: a plain star with send costs c + d (theorem)",
    complexity="O(n log n) without fixed costs; exponential with them",
    source="O. Beaumont, L. Marchal, Y. Robert, Scheduling divisible loads with return messages on "
    "heterogeneous master-worker platforms, HiPC 2005",
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
    plain = _plain(problem)
    return _with_returns(problem, _solve_plain(plain, control))


def _is_plain(problem: DivisibleLoad) -> bool:
    """Whether the plain star states the problem, and has an exact method."""
    star = problem.star
    if np.isfinite(star.memory).any() or not star.returns.all():
        return False
    if problem.use == "all" and (problem.has_latencies or problem.order is not None):
        return False
    if not (star.send_per_unit + star.compute_per_unit + star.return_per_unit).all():
        return False
    return problem.order is not None or not problem.has_latencies or len(star) <= MOST_WORKERS


def _plain(problem: DivisibleLoad) -> DivisibleLoad:
    """Return the problem without returns whose sends last as long as send and return."""
    star = problem.star
    columns = {name: getattr(star, name) for name in NUMBERS}
    for part in ("fixed", "per_unit"):
        columns[f"send_{part}"] = columns[f"send_{part}"] + columns[f"return_{part}"]
        columns[f"return_{part}"] = 0.0
    plain = Star.from_arrays(names=star.names, master=star.master, **columns)
    return replace(problem, platform=plain, discipline=None, ports=1)


def _solve_plain(plain: DivisibleLoad, control: Control) -> Solution:
    if not plain.has_latencies:
        if plain.order is None:
            return solve_linear(plain, by_send_cost(plain.star), keep_all=True)
        return solve_linear(plain, plain.workers_in(plain.order), keep_all=False)

    return solve_latencies(plain, control, _search)


def _search(costs: Costs, order: Integers | None, control: Control) -> Search:
    return Layers(costs, control) if order is None else Chain(costs, order, control)


def _with_returns(problem: DivisibleLoad, solution: Solution) -> Solution:
    """Return the solution of the plain star as one with returns."""
    proved = keeps_discipline(problem, "lifo")
    if solution.schedule is None:
        return solution if proved else replace(solution, infeasible=None, lower_bound=None)
    terms = Terms.of(problem)
    schedule = solution.schedule
    orders = orders_of(problem, schedule)
    assert orders is not None
    rule = Rule.of(problem, terms, "lifo")
    amount = np.zeros(len(terms))
    computes = schedule.rows_of(Activity.COMPUTE)
    mine = computes[schedule.machine[computes] > 0]
    amount[schedule.machine[mine] - 1] = schedule.amount[mine]
    own = float(schedule.amount[computes[schedule.machine[computes] == 0]].sum())
    arranged = rule.arranged(orders.send, orders.send, orders.own)
    planned = timed(problem, plan_of(problem, arranged, amount, own))
    if proved:
        return replace(solution, schedule=planned)
    objective = solution.objective
    if objective is not None:
        objective = replace(objective, bound=None)
    return replace(solution, schedule=planned, lower_bound=None, optimal=False, objective=objective)
