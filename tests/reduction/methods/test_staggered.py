"""All-reduces from when segments are complete: valid, and over when they were planned to be."""

from __future__ import annotations

import numpy as np
import pytest

import makespan
from makespan import Reduction
from makespan.core.control import Control
from makespan.reduction.bounds import best_bound
from makespan.reduction.methods.staggered import FIRST, Search
from makespan.reduction.referee import violations
from tests.reduction.methods.test_earliest_due_date import equal_machines
from tests.thorough import few


def planned(problem: Reduction, runs: int, seed: int = 0) -> float:
    """Assert that the referee accepts plans in several manners, and when they end; return that."""
    bound = best_bound(problem)
    search = Search(problem, Control(rng=seed), bound)
    ends = []
    for turn in range(runs):
        search.least = np.inf
        plan = search.run(FIRST[turn] if turn < len(FIRST) else None)
        assert plan is not None
        schedule = plan.schedule(problem)
        assert not list(violations(problem, schedule))
        assert bound <= schedule.makespan * (1 + 1e-9)
        if problem.grid is not None:  # all ports were free then
            assert schedule.makespan <= search.least * search.unit + 1e-9
        ends.append(schedule.makespan)
    return min(ends)


@pytest.mark.parametrize("seed", few(40, 2, thorough=24))
def test_plans_are_valid(seed: int) -> None:
    """Also where times are 0, or have no common unit, and of more segments than machines."""
    rng = np.random.default_rng(seed)
    n, m = (int(count) for count in rng.integers(2, 14, 2))
    times = rng.integers(0, 9, 3) / 4 * (np.sqrt(2) if seed % 5 == 0 else 1)
    planned(equal_machines(times.tolist(), n, m), 6, seed)


@pytest.mark.usefixtures("form")
def test_both_forms_of_the_loop() -> None:
    """As plain Python, and compiled."""
    planned(equal_machines((1, 1, 1), 9, 4), 2)


@pytest.mark.parametrize(
    ("times", "n", "m", "most"),
    [((1.1, 1, 1.3), 512, 6, 0.06), ((1, 1, 1), 512, 12, 0.12)],
)
def test_plans_are_near_their_bounds(times: tuple[float, ...], n: int, m: int, most: float) -> None:
    """Where few segments go to many machines."""
    problem = equal_machines(times, n, m)
    assert planned(problem, 4) <= (1 + most) * best_bound(problem)


def test_one_machine_sends_nothing() -> None:
    """It has all segments complete."""
    problem = Reduction(machines=1, segments=3, collective="all-reduce", latency=1, transfer=1,
                        reduce=1)  # fmt: skip
    assert makespan.solve(problem, method="staggered").makespan == 0
