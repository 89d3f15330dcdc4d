"""Class trees, against the optima of a plain model and the loop as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from makespan import Interconnect, Reduction, solve
from makespan.core.numeric.jit import always, compiles
from makespan.reduction.bounding.class_trees import class_trees, price_trees
from makespan.reduction.bounding.classes import NOBODY, Groups, classes_of, divisions
from makespan.reduction.bounds import bounds
from tests.oracles.reduction_optimum import optimum
from tests.thorough import few

COLLECTIVES = "reduce", "broadcast", "all-reduce", "all-gather"
compiled = pytest.mark.skipif(not compiles(), reason="as plain Python it would take minutes")


def small(seed: int) -> Reduction:
    """Return a problem of two or three racks, or of unlike machines, of what combines unlike."""
    rng = np.random.default_rng([778, seed])
    racks = rng.integers(2, 4, rng.integers(1, 3)) if seed % 2 else np.array([2, 2])
    rack = np.repeat(np.arange(len(racks)), racks)
    if seed % 3 == 2:
        rack = np.arange(4)
    count, collective = len(rack), COLLECTIVES[seed % 4]
    segments = int(rng.integers(1, 4 if count < 5 and collective != "all-reduce" else 3))
    given: dict[str, Any] = {}
    for name, least in (("transfer", 1), ("latency", 0)):
        between = rng.integers(least, rng.choice([3, 6]), (count, count)).astype(float)
        if name == "transfer" or rng.random() < 0.5:
            given[name] = between[rack[:, None], rack]
    if rng.random() < 0.5 and collective in {"reduce", "all-reduce"}:
        given["reduce"] = rng.integers(0, rng.choice([2, 5]), count).astype(float)
    return Reduction(machines=count, segments=segments, collective=collective, **given)


def two_racks(collective: Any, machines: int, far: float, segments: int) -> Reduction:
    """Return a problem of two racks of as many machines, whose line takes ``far`` times as long."""
    rack = np.arange(machines) >= machines // 2
    transfer = np.where(rack[:, None] == rack, 1.0, far)
    return Reduction(machines=machines, transfer=transfer, segments=segments, collective=collective)


def others(problem: Reduction) -> float:
    """Return the greatest of the other bounds."""
    return max(each.value for each in bounds(problem) if each.name != "class trees")


def bound(problem: Reduction, known: float) -> float:
    """Return the bound with the loop compiled, whatever is on disk."""
    with always():
        return class_trees.__wrapped__(problem, known)


@compiled
@pytest.mark.parametrize("dozen", few(40, 2))
def test_it_is_never_above_an_optimum_and_mostly_meets_it(dozen: int) -> None:
    met = 0
    for seed in range(12 * dozen, 12 * dozen + 12):
        problem = small(seed)
        found = bound(problem, 0.6 * others(problem))
        end: float = solve(problem, time_limit=0.2).makespan or 0
        if problem.collective != "all-gather":  # which the model doesn't know
            end = optimum(problem, end, seconds=30).makespan
        assert found <= end + 1e-9, seed
        met += found > end - 1e-6
    assert met >= 6


@compiled
@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(30))
def test_times_without_a_unit_are_rounded_down(seed: int) -> None:
    whole, rng = small(seed), np.random.default_rng(seed)
    transfer = whole.transfers + rng.uniform(0, 0.5, (len(whole.machines),) * 2)
    problem = Reduction(
        machines=whole.machines, transfer=transfer, segments=whole.items,
        collective=whole.collective, latency=whole.latency, reduce=whole.reduce,
    )  # fmt: skip
    end = solve(problem, time_limit=0.5).makespan or 0
    for share in (0.5, 0.77, 1.0):
        assert bound(problem, share * others(problem)) <= end * (1 + 1e-9)


@compiled
@pytest.mark.parametrize(
    ("collective", "machines", "far", "segments", "before", "end"),
    [
        ("all-reduce", 8, 2.0, 4, 8.0, 10.0),
        ("all-reduce", 8, 4.0, 4, 12.0, 14.0),
        ("broadcast", 8, 2.0, 8, 11.0, 13.0),
    ],
)
def test_it_proves_plans_of_racks(
    collective: Any, machines: int, far: float, segments: int, before: float, end: float
) -> None:
    problem = two_racks(collective, machines, far, segments)
    known = others(problem)
    assert known == pytest.approx(before)
    assert bound(problem, known) == pytest.approx(end) == solve(problem, time_limit=20).makespan


@compiled
def test_what_it_cannot_price_has_no_bound() -> None:
    several = Interconnect(4, topology="ring", rate=2.0, ports="links")
    at_once = np.array([[0, 0, 4], [3, 0, 5], [2, 6, 0]])
    anywhere = {"segments": 1, "collective": "custom", "before": [[1, 2]], "after": [[1, 2, 3]]}
    problems = [
        Reduction(network=several, segments=2, collective="all-reduce"),
        Reduction(machines=3, transfer=at_once, segments=2),
        Reduction(machines=3, transfer=at_once + 1, segments=2, collective="scatter"),
        Reduction(machines=3, transfer=at_once + 1, **anywhere),
    ]
    assert [bound(each, 1.0) for each in problems] == [0.0] * 4


def test_machines_that_are_alike_are_a_class_and_the_nearest_where_classes_are_too_many() -> None:
    rack = np.array([0, 1, 0, 2, 1, 0])
    between = np.array([[1.0, 2.0, 9.0], [3.0, 1.0, 9.0], [9.0, 9.0, 1.0]])
    table = between[rack[:, None], rack]
    found = classes_of([table], np.inf)
    assert [each.tolist() for each in found] == [[0, 2, 5], [1, 4], [3]]
    fewer = classes_of([table], divisions(np.array([5, 1])))
    assert [each.tolist() for each in fewer] == [[0, 1, 2, 4, 5], [3]]


def test_groups_are_divided_in_all_ways() -> None:
    groups = Groups.of(np.array([2, 1]))
    assert groups.without.tolist()[:3] == [[NOBODY, NOBODY], [0, NOBODY], [1, NOBODY]]
    first = groups.first
    assert sorted(groups.parts[first[5] :].tolist()) == [0, 1, 2, 3, 4, 5]
    assert sorted(groups.parts[first[4] : first[5]].tolist()) == [0, 1, 3, 4]
    assert len(groups.parts) * 4 == divisions(np.array([2, 1]))


def test_the_loop_is_the_same_compiled() -> None:
    rng, groups = np.random.default_rng(4), Groups.of(np.array([2, 2]))
    lag, lasts, work = rng.integers(0, 2, (2, 2)), rng.integers(1, 3, (2, 2)), np.array([0, 1])
    upto = np.cumsum(rng.uniform(size=(2, 2, 13)), axis=2)
    results = []
    for form in (price_trees.plain, price_trees.compiled):
        cost = np.zeros((len(groups.without), 2, 13))
        choice = np.zeros(cost.shape, dtype=np.int64)
        form(*groups, lag, lasts, work, *upto, cost, choice)
        results.append((cost, choice))
    assert np.isfinite(results[0][0]).all()
    assert (results[0][1] > 0).any()
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)
