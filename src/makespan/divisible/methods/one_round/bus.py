"""The closed form for linear buses, with the best master."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible.needs import A_BUS, LINEAR_ONE_ROUND
from makespan.divisible.one_round.linear import solve_linear
from makespan.divisible.one_round.steps import logged
from makespan.divisible.problem import DivisibleLoad


@register(
    "divisible",
    name="bus",
    needs=(*LINEAR_ONE_ROUND, A_BUS),
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
    return logged(problem, control, found, problem.star.send_per_unit, "send cost")
