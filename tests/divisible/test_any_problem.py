"""Random problems over all fields, each method against an oracle that tries everything."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from makespan import DivisibleLoad, methods, read_problem, solve
from makespan.divisible.bounds import bounds
from tests.oracles.divisible_any import best, covers
from tests.oracles.divisible_random import random_problem
from tests.thorough import few

WITHIN = 3e-6
"""What a plan or a bound may be off: mixed-integer programmes prove to within 1e-6."""


def checked(problem: DivisibleLoad, method: str, known: float | None, exact: bool) -> None:
    """Assert that what a method says of a problem is true.

    ``known`` is the value of the best plan tried, ``exact`` says that all plans were.
    """
    result = solve(problem, method=method, time_limit=5)
    assert str(result)
    if known is None:
        assert result.schedule is None or not exact
        return
    assert result.status != "infeasible"
    if math.isinf(known):
        return
    slack = WITHIN * max(1.0, known)
    if problem.load is None:
        if result.objective is None:
            assert result.schedule is None
            return
        value, bound = -result.objective.value, result.objective.bound
        known, bound = -known, None if bound is None else -bound
    else:
        value, bound = result.makespan, result.lower_bound
    assert bound is None or bound <= known + slack
    if value is not None:
        assert value >= known - slack or not exact
        assert value <= known + slack or result.status != "optimal"


def all_checked(problem: DivisibleLoad) -> list[str]:
    """Assert that bounds and whatever applies say what is true; return the methods that apply."""
    known, exact = best(problem), covers(problem)
    if known is not None and problem.load is not None:
        for bound in bounds(problem):
            assert bound.value <= known * (1 + 1e-7) + 1e-9, bound
    able = [verdict.name for verdict in methods(problem) if verdict.applies]
    for method in ("auto", *able):
        checked(problem, method, known, exact)
    return able


@pytest.mark.parametrize("seed", few(20, 1, thorough=3))
def test_whatever_applies_says_what_is_true(seed: int) -> None:
    """Nothing is refused, no optimum that a plan beats, no plan better than all, no false
    infeasibility, no bound above a plan; and every plan passes the referee (inside solve).
    """
    rng = random.Random(seed)
    for _ in range(10):
        all_checked(random_problem(rng))


def test_sends_that_begin_together_have_no_order() -> None:
    """Where all links work at once, results of two of them are first in, first out either way."""
    path = Path(__file__).parents[1] / "cases" / "found" / "divisible_tied_sends.json"
    problem = read_problem(path)
    known = best(problem)
    assert known is not None
    assert covers(problem)
    for method in ("sequence-search", "chunk-programme"):
        checked(problem, method, known, exact=True)
