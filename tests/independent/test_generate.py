"""Random independent tasks: distributions, triplets with a known optimum, and mistakes."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan import solve
from makespan.core.errors import ProblemError
from makespan.independent.generate import DISTRIBUTIONS, generate


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("distribution", list(DISTRIBUTIONS))
def test_means_are_as_asked(distribution):
    """The mean of very many durations is near the mean that was asked for."""
    tasks = generate(rng(), tasks=200_000, distribution=distribution, mean=8.0, spread=0.5)
    assert len(tasks.durations) == 200_000
    assert tasks.durations.min() > 0
    assert tasks.durations.mean() == pytest.approx(8.0, rel=0.03)


def test_spread_widens():
    """Uniform durations stay within the spread; lognormal ones deviate by it."""
    uniform = generate(rng(), tasks=1000, mean=10.0, spread=0.2).durations
    assert uniform.min() >= 8.0
    assert uniform.max() <= 12.0
    lognormal = generate(rng(), tasks=200_000, distribution="lognormal", spread=0.5).durations
    assert lognormal.std() / lognormal.mean() == pytest.approx(0.5, rel=0.05)


@given(machines=st.integers(1, 8), mean=st.integers(4, 1000), seed=st.integers(0, 100))
def test_triplets_fill_each_machine(machines, mean, seed):
    """Three durations a machine, between a quarter and a half of its time, sum to it."""
    tasks = generate(rng(seed), machines=machines, distribution="triplets", mean=mean)
    assert len(tasks.durations) == 3 * machines
    assert tasks.durations.sum() == 3 * mean * machines
    assert np.all(4 * tasks.durations > 3 * mean)
    assert np.all(2 * tasks.durations < 3 * mean)


def test_triplets_have_a_known_optimum():
    """The least makespan of triplets is their sum a machine."""
    result = solve(generate(rng(2), machines=4, distribution="triplets", mean=50))
    assert (result.status, result.makespan) == ("optimal", 150.0)


def test_a_seed_gives_one_problem():
    """The same seed gives the same tasks, another gives others."""
    assert generate(rng(5)) == generate(rng(5))
    assert generate(rng(5)) != generate(rng(6))


def test_all_mistakes_together():
    """Every option that is not allowed is named."""
    with pytest.raises(ProblemError) as error:
        generate(rng(), machines=0, tasks=-1, mean=0.0, spread=-1.0, distribution="unifrom")
    places = [mistake.place for mistake in error.value.mistakes]
    assert places == ["machines", "tasks", "mean", "spread", "distribution"]
    assert "did you mean 'uniform'" in str(error.value)
    with pytest.raises(ProblemError, match="too small for triplets"):
        generate(rng(), distribution="triplets", mean=2)


def test_machines_differ_where_asked():
    """Speeds for uniform machines, a table for unrelated ones; both are planned."""
    source = rng(1)
    uniform = generate(source, machines=3, tasks=5, distribution="whole", environment="uniform")
    assert uniform.speeds is not None
    assert set(uniform.speeds.tolist()) <= {1.0, 2.0, 3.0, 4.0}
    unrelated = generate(source, machines=3, tasks=5, environment="unrelated")
    assert unrelated.durations.shape == (5, 3)
    for problem in (uniform, unrelated):
        assert solve(problem).makespan > 0


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"environment": "alike"}, "environment"),
        ({"environment": "uniform", "distribution": "triplets"}, "environment"),
        ({"environment": "unrelated", "tasks": 10**6, "machines": 10**6}, "tasks"),
    ],
)
def test_what_machines_cannot_be_is_refused(options, place):
    """With its place."""
    with pytest.raises(ProblemError, match=place):
        generate(rng(1), **options)


def test_counts_may_be_equal():
    """The option of what is generated."""
    assert generate(rng(), tasks=5, equal_counts=True).counts == "equal"
    assert generate(rng(), tasks=5).counts is None
