"""Replaying plans of partition problems under errors."""

import numpy as np
import pytest

from makespan import Noise, Partition, simulate, solve
from makespan.partition.generate import generate


@pytest.mark.parametrize("family", ["iid", "convex", "parity"])
def test_without_noise_every_makespan_is_the_planned_one(family):
    """Zero noise reproduces the makespan to the bit."""
    result = solve(generate(np.random.default_rng(0), resources=6, tasks=51, family=family))
    simulation = simulate(result, noise=0.0, repetitions=20)
    assert simulation.nominal == result.makespan
    assert set(simulation.makespans.tolist()) == {result.makespan}


def test_the_makespan_is_the_largest_of_the_disturbed_times():
    """A common factor per resource stretches that resource's time, also at count 0."""
    problem = Partition(tasks=3, costs=[[5.0, 9.0, 9.0, 9.0], [0.0, 1.0, 2.0, 3.0]])
    result = solve(problem)
    assert result.answer["counts"] == {"R1": 0, "R2": 3}
    simulation = simulate(result, noise=0.3, repetitions=400, rng=1)
    assert simulation.makespans.min() < 5.0 < simulation.makespans.max()
    assert simulation.mean > 4.5


def test_errors_only_lengthen_a_balanced_plan_on_average():
    """The expected maximum of disturbed times is above the planned makespan."""
    problem = Partition(tasks=40, costs=[[0.1 * count for count in range(41)]] * 8)
    simulation = simulate(solve(problem), noise=Noise("uniform", 0.2), repetitions=300)
    assert simulation.mean > simulation.nominal
