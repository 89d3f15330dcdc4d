"""Priced trees, against the optima of a plain model and the loop as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from makespan import Interconnect, Reduction, solve
from makespan.core.numeric.arrays import readonly
from makespan.core.numeric.jit import always, compiles
from makespan.reduction.bounding.priced_trees import MOMENTS, SURE, price, priced_trees
from makespan.reduction.bounds import bounds
from tests.oracles.reduction_optimum import optimum
from tests.thorough import few

COLLECTIVES = "reduce", "broadcast", "all-reduce"
pytestmark = pytest.mark.skipif(not compiles(), reason="as plain Python it would take minutes")


def table(collective: Any, seed: int, machines: int, segments: int) -> Reduction:
    """Return a problem of whole times, without latency and reduction."""
    transfer = np.random.default_rng(seed).integers(2, 17, (machines, machines)).astype(float)
    return Reduction(machines=machines, transfer=transfer, segments=segments, collective=collective)


def small(seed: int) -> Reduction:
    """Return a problem of whole times, with what else a statement may have."""
    rng = np.random.default_rng([777, seed])
    collective = COLLECTIVES[seed % 3]
    count, segments = int(rng.integers(3, 5)), int(rng.integers(1, 3))
    transfer = rng.integers(1, rng.choice([4, 10, 17]), (count, count)).astype(float)
    given: dict[str, Any] = {}
    if rng.random() < 0.5:
        given["latency"] = rng.integers(0, 5, (count, count)).astype(float)
    if rng.random() < 0.6:
        given["reduce"] = rng.integers(0, rng.choice([4, 12]), count).astype(float)
    if rng.random() < 0.3:
        hole = rng.random((count, count)) < 0.3
        ring = np.arange(count)
        hole[ring, ring - 1] = hole[ring - 1, ring] = False
        transfer[hole] = np.inf
    if rng.random() < 0.2:
        given["segment_sizes"] = rng.integers(1, 4, segments).astype(float)
    return Reduction(
        machines=count, transfer=transfer, segments=segments, collective=collective, **given
    )


def bound(problem: Reduction, known: float | None = None) -> float:
    """Return the bound with the loop compiled, whatever is on disk."""
    if known is None:
        known = max(each.value for each in bounds(problem) if each.name != "priced trees")
    with always():
        return priced_trees.__wrapped__(problem, known)


@pytest.mark.parametrize("dozen", few(40, 1))
def test_it_is_never_above_an_optimum_and_mostly_meets_it(dozen: int) -> None:
    met = 0
    for seed in range(12 * dozen, 12 * dozen + 12):
        problem = small(seed)
        found = bound(problem)
        best = optimum(problem, solve(problem, time_limit=0.2).makespan or 0, seconds=30)
        assert found <= best.makespan + 1e-9, seed
        met += found > best.bound - 1e-6
    assert met >= 6


@pytest.mark.parametrize(
    ("machines", "seed"), few([(12, 1), (18, 2), (12, 2), (14, 2)], 2, thorough=4)
)
def test_it_finds_how_long_one_segment_takes_where_groups_are_too_many(
    machines: int, seed: int
) -> None:
    problem = table("broadcast", seed, machines, 1)
    others = max(each.value for each in bounds(problem) if each.name != "priced trees")
    assert others < bound(problem) == pytest.approx(optimum(problem, 20).makespan)


def test_an_all_reduce_counts_both_ways_and_all_segments() -> None:
    # plans of 28, 29 and 40 are known; the other bounds are 21, 17 and 24
    found = [bound(table("all-reduce", *each)) for each in ((1, 12, 1), (11, 12, 2), (12, 12, 3))]
    assert np.all(np.array(found) >= np.array([25, 26, 34]) * (1 - 1e-9))
    assert np.all(np.array(found) <= [28, 29, 40])


@pytest.mark.thorough
def test_times_without_a_unit_or_with_a_fine_one_are_rounded_down() -> None:
    whole = table("all-reduce", 3, 6, 2)
    best = bound(whole)
    for factor in (np.pi, 1 / 997):
        other = Reduction(
            machines=6, transfer=whole.transfer * factor, segments=2, collective="all-reduce"
        )
        found = bound(other) / factor
        assert 0.9 * best < found <= best * (1 + 1e-9)
    jitter = np.random.default_rng(3).uniform(0, 1e-3, (6, 6))
    other = Reduction(
        machines=6, transfer=whole.transfer + jitter, segments=2, collective="all-reduce"
    )
    assert bound(other) <= (solve(other, time_limit=0.5).makespan or 0)
    assert bound(other) > 0.9 * best


def test_what_it_cannot_price_has_no_bound() -> None:
    several = Interconnect(4, topology="ring", rate=2.0, ports="links")
    at_once = np.array([[0, 0, 4], [3, 0, 5], [2, 6, 0]])
    problems = [
        Reduction(network=several, segments=2, collective="all-reduce"),
        Reduction(machines=3, transfer=at_once, segments=2),
        Reduction(machines=3, transfer=at_once + 1, segments=2, collective="scatter"),
        table("broadcast", 1, 64, 2),
    ]
    assert [bound(each, 10.0 * MOMENTS) for each in problems] == [0.0] * 4


def test_the_loop_is_the_same_compiled() -> None:
    rng = np.random.default_rng(4)
    lasts = rng.integers(1, 5, (2, 4, 4))
    lasts[:, range(4), range(4)] = 0
    given = *readonly(
        rng.integers(0, 2, (2, 4, 4)), lasts, lasts, rng.integers(0, 2, (2, 4)),
        np.full((2, 4), 2.0), np.zeros((0, 2), dtype=np.int64),
        np.full((2, 4), 4, dtype=np.int64),
    ), 2.0  # fmt: skip
    results = []
    for form in (price.plain, price.compiled):
        cover, prices = np.ones((2, 4)), np.full((2, 4, 14), 0.2)
        last = 0.7, 3, 40, np.zeros(0, dtype=np.int64)
        results.append([*form(*given, cover, prices, *last), cover, prices])
    assert results[0][0] > SURE
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)
