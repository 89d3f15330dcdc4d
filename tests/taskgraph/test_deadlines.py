"""The deadline of a whole plan: met where some method finds a plan in time, and refuted else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from makespan import check, solve
from makespan.taskgraph.generate import generate
from tests.thorough import few


@pytest.mark.parametrize("seed", few(16, 2))
def test_a_deadline_at_the_optimum_is_met_and_one_before_it_is_not(seed: int) -> None:
    """What the first methods miss, later ones go on from."""
    problem = generate(np.random.default_rng(seed), size=9, machines=3)
    found = solve(problem, time_limit=10)
    assert found.status == "optimal"
    assert found.makespan is not None
    met = solve(replace(problem, deadline=found.makespan), time_limit=10)
    assert met.status == "optimal"
    assert check(met).ok
    early = solve(replace(problem, deadline=0.98 * found.makespan), time_limit=10)
    assert (early.status, early.schedule) == ("infeasible", None)
    assert early.lower_bound == pytest.approx(found.makespan, rel=0.02)
