"""First fit, plain and compiled."""

import numpy as np
import pytest

from makespan.core.control import Control
from makespan.independent.list_scheduling import first_fit
from tests.oracles.independent_brute import first_fit_bins


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("seed", range(20))
def test_each_task_goes_to_the_first_machine_with_room(seed):
    """Both loops place as the obvious one does, and fail where it does."""
    rng = np.random.default_rng(seed)
    machines = int(rng.integers(1, 9))
    seconds = np.sort(rng.integers(1, 20, 30) / 7)[::-1].copy()
    capacity = float(seconds.sum() / machines * rng.uniform(0.95, 1.3))
    expected = first_fit_bins(seconds.tolist(), machines, capacity)
    found = first_fit(seconds, machines, capacity, Control())
    assert (None if found is None else found.tolist()) == expected
