"""The closed forms for linear buses, stars, and given orders."""

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.divisible import needs
from makespan.divisible.one_round.plans import log_service_order, solve_linear
from makespan.divisible.problem import DivisibleLoad

AN_ORDER = Need("an order", lambda problem: None if problem.order else "order is not given")


@register(
    needs=(*needs.LINEAR_ONE_ROUND, needs.A_BUS),
    proves="all machines finish together, in any order, the fastest as master (theorem)",
    complexity="O(n)",
    source="Benoit 2016, bus-shaped platforms, overall theorem",
)
def bus(problem: DivisibleLoad, control: Control) -> Solution:
    """Closed form on a bus: all machines finish together; the fastest is the best master.

    The order of the workers does not matter: they are served in the order given, or by index.
    """
    if problem.chooses_master:
        problem = problem.with_master(int(np.argmin(problem.star.compute_per_unit)))
    order = np.arange(len(problem.star))
    if problem.order is not None:
        order = problem.workers_in(problem.order)
    found = solve_linear(problem, order, keep_all=True)
    return log_service_order(problem, control, found, problem.star.send_per_unit, "send cost")


@register(
    needs=(*needs.LINEAR_ONE_ROUND, needs.A_MASTER, needs.NO_GIVEN_ORDER),
    proves="serve by non-decreasing send cost, finish together (theorem)",
    complexity="O(n log n)",
    source="Benoit 2016, star-shaped platforms, overall theorem",
)
def star(problem: DivisibleLoad, control: Control) -> Solution:
    """Closed form on a star: serve by non-decreasing send cost, all finish together."""
    found = solve_linear(problem, problem.star.by_send_cost, keep_all=True)
    return log_service_order(problem, control, found, problem.star.send_per_unit, "send cost")


@register(
    needs=(*needs.LINEAR_ONE_ROUND, needs.A_MASTER, needs.ANY_WORKERS, AN_ORDER),
    proves="exchange of port time, backwards over the order (equal to the linear programme)",
    complexity="O(n)",
    source="Benoit 2016, star recursion, corrected: workers may be dropped",
)
def fixed_order(problem: DivisibleLoad, control: Control) -> Solution:
    """Optimum for the given order: workers not worth their port time are dropped.

    The others finish together.
    """
    assert problem.order is not None
    return solve_linear(problem, problem.workers_in(problem.order), keep_all=False)
