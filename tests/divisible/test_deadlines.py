"""Deadlines of loads that are to end early: met where a plan is known to, else excluded or left."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from makespan import Affine, DivisibleLoad, ProblemError, Source, Sources, Worker, check, solve
from tests.oracles.divisible_random import random_problem, random_tree_problem
from tests.oracles.divisible_sources import random_sources
from tests.thorough import few

MAKERS = random_problem, random_tree_problem, random_sources


@pytest.mark.parametrize("seed", few(40, 2))
@pytest.mark.parametrize("make", MAKERS)
def test_a_deadline_at_the_optimum_is_met_and_one_before_it_is_not(
    make: Callable[[random.Random], DivisibleLoad], seed: int
) -> None:
    """Whatever is said of the problem without a deadline decides those with one."""
    rng = random.Random(7_000 + seed)
    for _ in range(4):
        try:
            problem = replace(make(rng), deadline=None)
        except ProblemError:
            continue
        found = solve(problem, time_limit=5)
        if found.status != "optimal" or not found.makespan or found.objective is not None:
            continue
        for share, status in ((0.5, "infeasible"), (0.99, "infeasible"), (1.0, "optimal")):
            by = replace(problem, deadline=share * found.makespan)
            dated = solve(by, time_limit=5)
            assert dated.status == status, (problem, share)
            assert (dated.schedule is None) == (status == "infeasible")


def two_sources() -> DivisibleLoad:
    """Return a load at two sources of two workers with start-ups; flows end a hundredth late."""
    rng = np.random.default_rng(1)
    sources = [
        Source(
            load=float(rng.integers(5, 30)),
            send=[Affine(rng.uniform(0, 2), rng.uniform(0.2, 1)) for _ in range(2)],
        )
        for _ in range(2)
    ]
    crew = [Worker(compute=Affine(rng.uniform(0, 2), rng.uniform(1, 4))) for _ in range(2)]
    return DivisibleLoad(platform=Sources(sources, crew), rounds="auto")


def late_tree() -> DivisibleLoad:
    """Return a tree whose heuristic ends a fifth later than need be."""
    return replace(random_tree_problem(random.Random(107)), deadline=None)


@pytest.mark.parametrize(
    ("problem", "first"), [(two_sources(), "source-flows"), (late_tree(), "affine-tree")]
)
def test_what_the_first_method_misses_a_later_one_meets(problem: DivisibleLoad, first: str) -> None:
    """A late plan is where later methods start from, and no reason for them to give up."""
    late, best = (solve(problem, method=name, time_limit=10).makespan for name in (first, "auto"))
    assert late is not None
    assert best is not None
    assert best < 0.995 * late
    dated = replace(problem, deadline=(best + late) / 2)
    met, alone = (solve(dated, method=name, time_limit=10) for name in ("auto", first))
    assert met.schedule is not None
    assert check(met).ok
    assert (alone.status, alone.schedule) == ("limit", None)
    assert alone.notes[0] == f"the best plan found ends at {late:.12g}, after the deadline"
