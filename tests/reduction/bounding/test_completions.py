"""The bound over when segments are complete: no plan of an all-reduce ends before it."""

from __future__ import annotations

import numpy as np
import pytest

import makespan
from makespan import Reduction
from makespan.reduction.bounding.completions import Costs, least_end
from makespan.reduction.bounds import bounds
from tests.thorough import few


@pytest.mark.parametrize("seed", few([1, 0, *range(2, 60)], 1, thorough=4))
def test_no_plan_ends_before_the_bound(seed: int) -> None:
    """Whatever the times, some of them 0, and whether they are the same everywhere."""
    rng = np.random.default_rng(seed)
    n, m = (int(count) for count in rng.integers(2, 10, 2))
    shapes = [(n, n), (n, n), n] if seed % 3 == 0 else [(), (), ()]
    latency, transfer, reduce = (
        rng.integers(0, most, shape) / step
        for shape, most, step in zip(shapes, (30, 9, 9), (1, 2, 4), strict=True)
    )
    problem = Reduction(
        machines=n, segments=m, collective="all-reduce", latency=latency, transfer=transfer,
        reduce=reduce, segment_sizes=rng.integers(1, 5, m) / 2 if seed % 4 == 0 else None,
    )  # fmt: skip
    result = makespan.solve(problem, method="reduce-scatter-all-gather", restarts=1)
    assert result.makespan is not None
    values = {bound.name: bound.value for bound in bounds(problem)}
    assert values["completions"] <= result.makespan * (1 + 1e-12)
    assert values["completions"] >= values["growth"] * (1 - 1e-9)


def test_one_segment_grows_there_and_back() -> None:
    """Of one segment nothing is left to share."""
    for machines, costs in [(2, (1, 1, 1)), (7, (0, 1, 0)), (12, (3, 2, 5)), (5, (4, 0, 2))]:
        problem = Reduction(
            machines=machines, segments=1, collective="all-reduce",
            **dict(zip(("latency", "transfer", "reduce"), costs, strict=True)),
        )  # fmt: skip
        grown = {bound.name: bound.value for bound in bounds(problem)}["growth"]
        assert least_end(machines, 1, Costs(*costs), 0) == grown


def test_scaling_time_scales_the_bound() -> None:
    """Also where times are counted in coarser units, in which they are rounded down."""
    small = least_end(24, 8, Costs(11, 10, 13), 211)
    large = least_end(24, 8, Costs(11 * 10**9, 10**10, 13 * 10**9), 211 * 10**9)
    assert (1 - 1e-3) * small * 10**9 <= large <= small * 10**9
