"""All-reduces by CP-SAT: the optimum of trying everything, and never below the bounds."""

from __future__ import annotations

import random

import numpy as np
import pytest

import makespan
from makespan import Interconnect, Reduction
from makespan.reduction import needs
from makespan.reduction.bounds import bounds
from makespan.reduction.halves import proofs
from makespan.reduction.needs import MODELLED
from tests.oracles import reduction_brute as oracle
from tests.oracles.reduction_optimum import optimum
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


def ring(seed: int, count: int, segments: int) -> Reduction:
    """Return an all-reduce over a ring whose wires take 1 to 4."""
    rng = np.random.default_rng(seed)
    links = [
        (f"M{machine + 1}", f"M{(machine + 1) % count + 1}", 1 / float(rng.integers(1, 5)))
        for machine in range(count)
    ]
    network = Interconnect(count, topology="links", links=links)
    return Reduction(network=network, segments=segments, collective="all-reduce")


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [1, 4])
def test_rings_of_many_machines_are_proved(seed: int) -> None:
    """There are few links, so that the optimum is found where others stop above the bound."""
    problem = ring(seed, 12, 3)
    result = makespan.solve(problem, method="cp-sat", time_limit=60)
    assert result.makespan is not None
    assert result.status == "optimal"
    found = optimum(problem, result.makespan, seconds=60)
    assert found.makespan == found.bound == result.makespan


def test_exact_search_has_most_of_the_time_over_few_links() -> None:
    """Not where there are many possible sends: of more links, or of more segments."""
    every = Reduction(
        machines=20, segments=7, collective="all-reduce",
        transfer=np.arange(400.0).reshape(20, 20) % 7 + 1,
    )  # fmt: skip
    shares = [needs.share_of_search(each) for each in (ring(1, 20, 7), ring(1, 18, 9), every)]
    assert shares[0] < shares[1] == shares[2]
