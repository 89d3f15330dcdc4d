"""The bound on one round with returns over all orders, against each pair of orders."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from makespan import Affine, DivisibleLoad, Star, Worker, solve
from makespan.core.control import Control
from makespan.divisible.returns.decisions import Orders, Terms
from makespan.divisible.returns.order_bound import OrderBound
from makespan.divisible.returns.order_search import OrderSearch, Rule
from tests.oracles.divisible_any import best
from tests.oracles.divisible_random import random_problem
from tests.thorough import few


@pytest.mark.parametrize("seed", few(8, 1))
def test_no_orders_are_better(seed: int) -> None:
    """Whatever the fields: with and without a plan that is known, with a load or a deadline."""
    rng = random.Random(500 + seed)
    tried = 0
    while tried < 8:
        problem = random_problem(rng)
        if not problem.is_star or problem.chooses_master or problem.rounds != 1:
            continue
        if problem.ports == "many" or not problem.has_returns or problem.given_sends is not None:
            continue
        known = best(problem)
        tried += 1
        if known is None or math.isinf(known) or problem.load == 0 or problem.deadline == 0:
            continue
        terms = Terms.of(problem)
        for horizon in (math.inf, known):
            found = OrderBound(terms, Control()).bound(horizon / terms.second)
            if problem.load is None:
                assert -found * terms.unit >= known * (1 - 1e-7)
            else:
                assert found * terms.second <= known * (1 + 1e-7)


def crew(count: int, fixed: float) -> Star:
    rng = random.Random(1)

    def cost(share: float, low: float, high: float) -> Affine:
        return Affine(rng.uniform(0.0, share) * fixed, rng.uniform(low, high))

    return Star(
        [
            Worker(send=cost(0.3, 0.1, 1), compute=cost(0.3, 1, 6), return_=cost(0.2, 0.1, 1))
            for _ in range(count)
        ]
    )


@pytest.mark.parametrize(
    ("ports", "fixed", "off"), [(1, 0.0, 0.01), (2, 0.0, 0.01), (2, 1.0, 0.03)]
)
def test_the_bound_is_near_the_optimum(ports: int, fixed: float, off: float) -> None:
    """Four workers, proved by branch and bound: who takes part is decided, and 1 to 3 % left."""
    problem = DivisibleLoad(load=10.0, platform=crew(4, fixed), ports=ports)
    optimum = solve(problem, method="return-orders")
    terms = Terms.of(problem)
    found = OrderBound(terms, Control()).bound(math.inf) * terms.second
    assert optimum.status == "optimal"
    assert (1 - off) * optimum.makespan <= found <= optimum.makespan * (1 + 1e-9)


@pytest.mark.parametrize(("fixed", "off"), few([(1.0, 0.05), (0.0, 0.02)], 1))
def test_eight_workers_behind_two_ports(fixed: float, off: float) -> None:
    """Too many orders for a proof: what local search finds, and a bound some per cent below."""
    problem = DivisibleLoad(load=10.0, platform=crew(8, fixed), ports=2)
    terms = Terms.of(problem)
    search = OrderSearch(terms, Rule.of(problem, terms), Control())
    order = tuple(np.argsort(terms.send).tolist())
    search.improve(Orders(send=order, back=order), 1_000)
    assert OrderBound(terms, Control()).bound(search.best.value) > (1 - off) * search.best.value
