"""Lower bounds of independent tasks."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan import IndependentTasks, lower_bound
from makespan.independent.bounds import bounds
from tests.oracles.independent_brute import least_makespan


@pytest.mark.parametrize(
    ("machines", "durations", "value", "name"),
    [
        (3, [4, 4, 4, 4, 3, 2], 8, "stacked tasks"),
        (2, [9, 1, 1], 9, "longest task"),
        (2, [1.5, 1.25, 1], 2.25, "stacked tasks"),
        (2, [3, 3, 3, 3, 3], 9, "stacked tasks"),
        (2, [4, 3, 3, 2, 1], 7, "whole average load"),
        (2, [2.5, 2.5, 2.5, 2.5, 0.5, 0.5], 5.5, "average load"),
        (4, [], 0, "average load"),
    ],
)
def test_the_best_bound_is_found(machines, durations, value, name):
    """Each bound is the best somewhere, by hand."""
    found = lower_bound(IndependentTasks(machines, durations))
    assert (found.value, found.name) == (value, name)


def test_preemption_allows_only_the_bounds_that_hold_with_it():
    """The slide's tasks: 7 with preemption, 8 without."""
    assert lower_bound(IndependentTasks(3, [4, 4, 4, 4, 3, 2], preemptive=True)).value == 7


@given(st.integers(1, 4), st.lists(st.integers(0, 9), max_size=7), st.sampled_from([1, 0.1]))
def test_no_bound_is_above_the_optimum(machines, whole, unit):
    """Against all assignments."""
    durations = [unit * value for value in whole]
    optimum = least_makespan(machines, durations)
    for bound in bounds(IndependentTasks(machines, durations)):
        assert bound.value <= optimum * (1 + 1e-12)


def test_bounds_of_many_machines_take_no_memory_for_them():
    """A billion machines are one number."""
    assert lower_bound(IndependentTasks(10**9, np.ones(5))).value == 1.0
