"""All-reduces by CP-SAT: the optimum of trying everything, and never below the bounds."""

from __future__ import annotations

import random

import numpy as np
import pytest

import makespan
from makespan import Reduction
from makespan.reduction.bounds import bounds
from makespan.reduction.halves import proofs
from makespan.reduction.needs import MODELLED
from tests.oracles import reduction_brute as oracle
from tests.thorough import few


def small(seed: int) -> Reduction:
    """Return an all-reduce that the oracle covers, and whose sends take time."""
    rng = random.Random(seed)
    while True:
        problem = oracle.random_problem(rng)
        if problem.collective == "all-reduce" and problem.segments != "auto":
            fits = oracle.covers(problem) and len(problem.machines) > 1
            if fits and MODELLED.unmet(problem) is None:
                return problem


@pytest.mark.parametrize("seed", few(12, 2))
def test_the_optimum_is_that_of_trying_everything(seed: int) -> None:
    """Whatever the times, sizes and links."""
    problem = small(seed)
    best = oracle.best(problem)
    result = makespan.solve(problem, method="cp-sat", time_limit=20)
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("seed", few(16, 2))
def test_bounds_are_below_optima_found_without_them(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With several segments, where the oracle would take too long."""
    rng = np.random.default_rng(seed)
    n, m = [(3, 2), (3, 3), (4, 2), (5, 2), (4, 3), (2, 5)][seed % 6]
    latency, transfer, reduce = (
        int(rng.integers(low, most)) for low, most in ((0, 6), (1, 5), (0, 7))
    )
    problem = Reduction(
        machines=n, segments=m, collective="all-reduce", latency=latency, transfer=transfer,
        reduce=reduce,
    )  # fmt: skip
    values = [bound.value for bound in bounds(problem)]
    monkeypatch.setattr(proofs, "best_bound", lambda problem: 0.0)
    result = makespan.solve(problem, method="cp-sat", time_limit=10)
    assert result.makespan is not None
    assert max(values) <= result.makespan * (1 + 1e-12)
    assert result.lower_bound is not None
    assert result.lower_bound <= result.makespan * (1 + 1e-12)


@pytest.mark.parametrize(
    ("n", "m", "times", "optimum"),
    [(3, 3, (1, 1, 1), 7), (4, 2, (1, 1, 1), 9), (4, 3, (0, 1, 0), 5)],
)
def test_small_optima(n: int, m: int, times: tuple[int, int, int], optimum: float) -> None:
    """Of a few that are proved within a second."""
    latency, transfer, reduce = times
    problem = Reduction(
        machines=n, segments=m, collective="all-reduce", latency=latency, transfer=transfer,
        reduce=reduce,
    )  # fmt: skip
    result = makespan.solve(problem, method="cp-sat", time_limit=20)
    assert (result.status, result.makespan) == ("optimal", optimum)
