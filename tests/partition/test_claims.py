"""What is claimed about problems with all fields mixed, against enumeration in fractions."""

from __future__ import annotations

import random
from math import inf

import numpy as np
import pytest

from makespan import Partition, methods, solve
from tests.oracles import partition_claims as oracle


def false_claims(seed: int, limit: float | None = None) -> list[tuple[str, str]]:
    """Return what any method that applies says that is not true."""
    problem = oracle.random_problem(random.Random(seed))
    assert oracle.covers(problem)
    names = ["auto", *(verdict.name for verdict in methods(problem) if verdict.applies)]
    return [
        (name, claim)
        for name in names
        for claim in oracle.false_claims(problem, solve(problem, method=name, time_limit=limit))
    ]


@pytest.mark.usefixtures("form")
def test_nothing_false_is_claimed():
    """Optima, preferences, fronts, bounds and that there is no plan, by every method."""
    for seed in range(150):
        assert false_claims(seed) == [], seed


def test_nothing_false_is_claimed_without_time():
    """Bounds of searches that were ended at once."""
    for seed in range(100):
        assert false_claims(seed, 0.0) == [], seed


@pytest.mark.parametrize("seed", [20230, 20284])
def test_makespans_that_differ_in_the_last_places_are_told_apart(seed):
    """A plan a few last places above the bound is not called optimal."""
    assert false_claims(seed) == []


@pytest.mark.slow
@pytest.mark.usefixtures("form")
def test_nothing_false_is_claimed_of_thousands():
    """The same of many more."""
    for seed in range(1000, 6000):
        assert false_claims(seed) == [], seed


def test_every_form_of_costs_says_what_was_given():
    """Tables, functions, samples, first counts and limits give the costs they stand for."""
    for seed in range(400):
        parts, rows = oracle.random_parts(random.Random(seed))
        problem = Partition(**parts)
        for count in range(parts["tasks"] + 1):
            costs = problem.costs_of(np.full(len(rows), count))
            assert costs.tolist() == pytest.approx([row.get(count, inf) for row in rows], rel=1e-12)


def test_the_oracle_finds_false_claims():
    """It is not satisfied by just anything."""
    from dataclasses import replace

    problem = Partition(tasks=2, costs=[[0.0, 1.0, 3.0]] * 2)
    result = solve(problem)
    assert oracle.best(problem) == 1
    assert list(oracle.false_claims(problem, result)) == []
    worse = solve(Partition(tasks=2, costs=[[0.0, 9.0, 3.0]] * 2))
    assert "a makespan of 3.0" in next(
        oracle.false_claims(problem, replace(worse, lower_bound=None))
    )
    assert list(oracle.false_claims(problem, replace(result, lower_bound=1.5)))
    assert list(oracle.false_claims(problem, replace(result, schedule=None, status="infeasible")))
