"""What is claimed about independent tasks of all characters, against enumeration in fractions."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from makespan import IndependentTasks, lower_bound, methods, solve
from makespan.core.numeric import jit
from tests.oracles import independent_claims as oracle
from tests.thorough import up_to


def false_claims(seed: int, limit: float | None = None, skip: tuple[str, ...] = ()) -> list:
    problem = oracle.random_problem(random.Random(seed))
    assert oracle.covers(problem)
    names = ["auto", *(verdict.name for verdict in methods(problem) if verdict.applies)]
    results = {
        name: solve(problem, method=name, time_limit=limit) for name in names if name not in skip
    }
    return [
        (name, claim)
        for name, result in results.items()
        for claim in oracle.false_claims(problem, result)
    ]


@pytest.mark.parametrize("count", up_to(20, 80))
@pytest.mark.usefixtures("form")
def test_nothing_false_is_claimed(count):
    """Optima, bounds and grains, by every method but complete search."""
    for seed in range(count):
        assert false_claims(seed, skip=("exact", "auto")) == [], seed


def test_nothing_false_is_claimed_by_search():
    """The same with CP-SAT, and without time."""
    for seed in range(30):
        assert false_claims(seed) == [], seed
        assert false_claims(seed, 0.0) == [], seed


@pytest.mark.slow
def test_nothing_false_is_claimed_of_thousands():
    """The same of many more."""
    for seed in range(1000, 4000):
        assert false_claims(seed) == [], seed


def test_the_oracle_finds_false_claims():
    """It is not satisfied by just anything."""
    problem = IndependentTasks(machines=2, durations=[3, 3, 2, 2, 2])
    result = solve(problem)
    assert oracle.best(problem) == 6
    assert list(oracle.false_claims(problem, result)) == []
    assert list(oracle.false_claims(problem, replace(result, makespan=7.0)))
    assert list(oracle.false_claims(problem, replace(result, lower_bound=6.5)))


@pytest.mark.parametrize("preemptive", [False, True])
def test_long_plans_are_those_of_the_plain_loops(preemptive, monkeypatch):
    """Compiled loops give the same schedule, row by row."""
    seconds = np.random.default_rng(0).integers(0, 40, 900) / 7
    problem = IndependentTasks(machines=13, durations=seconds, preemptive=preemptive)
    names = ("mcnaughton",) if preemptive else ("lpt", "list-scheduling", "multifit", "interchange")
    monkeypatch.setattr(jit, "forced", False)
    plain = [solve(problem, method=name) for name in names]
    monkeypatch.setattr(jit, "forced", True)
    compiled = [solve(problem, method=name) for name in names]
    for one, other in zip(plain, compiled, strict=True):
        assert np.array_equal(one.schedule.machine, other.schedule.machine)
        assert np.array_equal(one.schedule.start, other.schedule.start)


@pytest.mark.parametrize(
    ("durations", "grain"),
    [([6, 9, 12], 3.0), ([0.5, 0.75], 0.25), ([0.1, 0.2], None), ([0.0], None), ([2.0**60], None)],
)
def test_sums_of_whole_multiples_are_whole_multiples(durations, grain):
    """The bound is rounded up to the grain, which proves more plans."""
    from makespan.independent.bounds import grain as grain_of

    assert grain_of(IndependentTasks(machines=2, durations=durations)) == grain
    assert lower_bound(IndependentTasks(machines=2, durations=[6, 9, 12])).value == 15.0
