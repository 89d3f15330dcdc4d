"""Hierarchical collectives: valid for all numbers of machines and segments, near the bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import makespan
from makespan import Reduction
from makespan.reduction.bounds import bounds
from makespan.reduction.methods import groups as methods
from makespan.reduction.sends import tables_of
from tests.reduction.methods.test_earliest_due_date import equal_machines
from tests.thorough import few


def held(problem: Reduction) -> float:
    """Assert that the referee, which every result passes, accepts the plan, and no bound is above.

    Return how much later than the best bound it ends.
    """
    found = makespan.solve(problem, method="hierarchical")
    assert found.makespan is not None
    best = max(bound.value for bound in bounds(problem))
    assert best <= found.makespan * (1 + 1e-9)
    return found.makespan / best - 1 if best else 0.0


@pytest.mark.parametrize("seed", few(45, 4))
def test_plans_are_valid(seed: int) -> None:
    """Also where times differ or are 0, segments have sizes, or groups have different sizes."""
    rng = np.random.default_rng(seed)
    n, m = (int(count) for count in rng.integers(1, 14, 2))
    collective: Any = rng.choice(["all-reduce", "all-gather", "reduce-scatter"])
    n = n if collective == "all-reduce" else n + m  # who has a segment has but one
    equal = seed % 3 == 0
    latency, transfer, reduce = (
        rng.integers(0, 9, () if equal else shape) / 4 for shape in ((n, n), (n, n), n)
    )
    sizes = rng.integers(1, 5, m) / 2 if seed % 4 == 0 else None
    held(
        Reduction(
            machines=n, segments=m, collective=collective, latency=latency,
            transfer=transfer, reduce=reduce, segment_sizes=sizes,
        )
    )  # fmt: skip


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(("n", "m"), [(2, 1), (7, 5), (9, 4)])
def test_both_forms_of_the_loop(n: int, m: int) -> None:
    """As plain Python, and compiled."""
    held(
        Reduction(machines=n, segments=m, collective="all-reduce", latency=1, transfer=1, reduce=1)
    )


@pytest.mark.parametrize(
    ("times", "n", "m", "most"),
    [
        ((0, 1, 0), 64, 64, 0.04),
        ((1, 1, 0.5), 64, 24, 0.0),  # the trees of three waves are hidden
        ((1.1, 1, 1.3), 64, 64, 0.0),
        ((1, 1, 0.5), 1024, 64, 0.05),
        ((1, 1, 0.5), 200, 200, 0.0),  # one group
    ],
)
def test_plans_are_near_their_bounds(times: Any, n: int, m: int, most: float) -> None:
    """Where machines can be dealt to groups, waves leave no port idle."""
    assert held(equal_machines(times, n, m)) <= most + 1e-9


@pytest.mark.parametrize("seed", few(30, 3))
def test_groups_end_when_their_machines_do(seed: int) -> None:
    """In any manner, where groups are equal: the plan of machines ends as that of groups does."""
    rng = np.random.default_rng(seed)
    size, groups, waves = (int(count) for count in rng.integers(1, 5, 3))
    times: Any = rng.integers(0, 9, 3) / 4 + (0, 0.25, 0)
    problem = equal_machines(times, size * groups, size * waves)
    manner = methods.MANNERS[0]
    for _ in range(8):
        manner = manner.moved(rng)
    plan = methods.take_turns(problem, methods.Shape(groups, size, size, waves), manner)
    schedule = methods._schedule(problem, plan)
    assert schedule.makespan == pytest.approx(plan.end * float(tables_of(problem).unit or 1))
    assert makespan.check(problem, schedule).ok


@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter"])
@pytest.mark.parametrize(
    ("times", "n", "m", "optimum"),
    [((0, 1, 0), 16, 8, 8), ((0, 1, 0), 64, 8, 10), ((0, 1, 0), 12, 8, 8), ((2, 1, 0), 64, 24, 28)],
)
def test_dealt_segments_spread_over_groups(
    collective: Any, times: Any, n: int, m: int, optimum: float
) -> None:
    """Few segments go to a home in each group first: no port is idle after that."""
    latency, transfer, reduce = times
    problem = Reduction(
        machines=n, segments=m, collective=collective, latency=latency, transfer=transfer,
        reduce=reduce,
    )  # fmt: skip
    assert makespan.solve(problem, method="hierarchical").makespan == optimum
    assert max(bound.value for bound in bounds(problem)) >= optimum * (1 - 1e-9)


def test_each_with_a_segment_leaves_nothing_to_spread() -> None:
    """Then sending straight is best, and the refusal says so."""
    problem = Reduction(machines=3, segments=3, collective="all-gather", transfer=1)
    with pytest.raises(makespan.MethodError, match="as many segments as machines"):
        makespan.solve(problem, method="hierarchical")


def test_large_all_reduces_keep_to_the_limit_with_the_plan_that_is_there() -> None:
    """Methods that would take longer than is left leave the plan as it is."""
    problem = Reduction(
        machines=600, segments=300, collective="all-reduce", latency=1, transfer=1, reduce=0.5
    )
    found = makespan.solve(problem, time_limit=0.5)
    assert found.method == "hierarchical"
    assert found.makespan is not None
    assert found.makespan <= 1.02 * found.lower_bound
