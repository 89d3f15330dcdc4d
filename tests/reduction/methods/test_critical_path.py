"""Local search along the critical path: valid on any network, no worse than it began."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

import makespan
from makespan.core.control import Control
from makespan.core.solution import Solution
from makespan.reduction.generate import generate
from makespan.reduction.heuristics.annealing_sends import anneal
from makespan.reduction.heuristics.symmetry import Plan
from makespan.reduction.methods import critical_path
from makespan.reduction.needs import ALONG_CRITICAL_PATH, ANNEALED, is_tried
from makespan.reduction.problem import Collective, Reduction
from makespan.reduction.referee import violations
from tests.thorough import few

pytestmark = pytest.mark.usefixtures("few_restarts")
COLLECTIVES = tuple(each for each in get_args(Collective) if each != "custom")
NETWORKS = (None, "nodes", "ring", "mesh")


def held(seed: int) -> None:
    """Assert that the end of a plan is the referee's, and that the method's is no later."""
    rng = np.random.default_rng(seed)
    problem = generate(
        rng, machines=4, segments=int(rng.integers(2, 6)), spread=0.8, devices=2,
        network=NETWORKS[seed % 4], collective=COLLECTIVES[seed % 8],
        ports=("machines", "links")[int(rng.integers(2)) if seed % 4 else 0],
    )  # fmt: skip
    first = critical_path._first(problem, Control(rng=1)).schedule
    assert first is not None
    search = critical_path._shortening(problem, Control(rng=2))
    search.take(Plan.of(problem, first), backward=False)
    ends = [search.run(tries, 0.1) for tries in (0, 100, 100)]
    assert sorted(ends, reverse=True) == ends
    if is_tried(problem, ANNEALED):
        rows, end = search.plan.rows.copy(), ends[-1]
        for _ in range(3):
            before, end = end, anneal(search, rows, end, 0.0, 0, 200)
            assert end <= before
        ends.append(end)
    found = search.plan.schedule(problem)
    assert not list(violations(problem, found))
    assert found.makespan == pytest.approx(float(ends[-1]) * critical_path.unit_of(problem))
    control = Control(rng=3)
    control.incumbent = Solution(schedule=first)
    best = critical_path.critical_path(problem, control, runs=2).schedule
    assert best is not None
    assert best.makespan <= first.makespan * (1 + 1e-9)


@pytest.mark.parametrize("seed", few(96, 3, thorough=20))
def test_plans_are_valid_and_end_when_the_loop_says(seed: int) -> None:
    """All collectives on tables and networks, with ports of machines and of links."""
    held(seed)


@pytest.mark.thorough
@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("seed", few([9, 10, 15], 2, thorough=2))
def test_both_forms_of_the_loop(seed: int) -> None:
    """As plain Python, and compiled."""
    held(seed)


@pytest.mark.thorough
def test_equal_broadcasts_are_annealed_where_no_rounds_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A copy is there after 1.5, and ports are free after 1: the plan meets its bound."""
    monkeypatch.setattr(critical_path, "TIMED", 1_000_000)
    problem = Reduction(
        machines=8, segments=9, collective="broadcast", latency=0.5, transfer=1.0, reduce=2.5
    )
    control = Control(rng=1)
    first = critical_path._first(problem, control)
    found = critical_path.critical_path(problem, control, runs=60)
    assert first.makespan is not None
    assert found.makespan == pytest.approx(12.5)
    assert found.makespan < first.makespan


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_auto_searches_equal_plans_of_one_root_alone(collective: Collective) -> None:
    """Equal machines serve the others by closed forms or rounds; unlike ones need the search."""
    equal = Reduction(machines=6, segments=6, collective=collective, transfer=1.0)
    unlike = replace(equal, transfer=1.0 + np.arange(36.0).reshape(6, 6))
    assert is_tried(equal, ALONG_CRITICAL_PATH) == (collective in {"reduce", "broadcast"})
    assert is_tried(unlike, ALONG_CRITICAL_PATH)


@pytest.mark.thorough
def test_plans_of_other_methods_are_shortened() -> None:
    """An all-to-all sent straight, in numbers that have no unit, waits at the cards."""
    rng = np.random.default_rng(3)
    transfer = rng.uniform(1, 4, (6, 6))
    problem = makespan.Reduction(
        machines=6, segments=6, latency=1.0, transfer=transfer, collective="all-to-all"
    )
    straight = makespan.solve(problem, method="direct")
    found = makespan.solve(problem, method="critical-path", runs=3)
    assert found.makespan < straight.makespan


@pytest.mark.parametrize("seed", few(60, 3))
def test_a_reduction_ends_no_later_than_the_broadcast_that_it_is_in_reversed_time(
    seed: int,
) -> None:
    rng = np.random.default_rng([8, seed])
    count = int(rng.integers(4, 8))
    transfer = rng.integers(1, 5, (count, count)).astype(float)
    ring = np.arange(count)
    if seed % 3 == 0:
        hole = rng.random((count, count)) < 0.3
        hole[ring, ring - 1] = hole[ring - 1, ring] = False
        transfer[hole] = np.inf
    segments = int(rng.integers(2, 5))
    problem = makespan.Reduction(
        machines=count,
        segments=segments,
        transfer=transfer,
        latency=rng.integers(0, 3, (count, count)).astype(float),
        reduce=rng.integers(0, (1, 8)[seed % 2], count, endpoint=True).astype(float),
        segment_sizes=None if seed % 4 else [2.0] * segments,
        collective=("reduce", "reduce-scatter")[seed % 5 == 4],
    )
    first = critical_path._first(problem, Control(rng=1)).schedule
    assert first is not None
    assert critical_path._is_a_broadcast(problem)
    search = critical_path._reversed(problem, Control(rng=2))
    search.take(Plan.of(problem, first), backward=True)
    for tries in (0, 50, 200):
        end = search.run(tries, 0.1) * critical_path.unit_of(problem)
        schedule = search.plan.mirrored().schedule(problem)
        assert not list(violations(problem, schedule))
        assert schedule.makespan <= end * (1 + 1e-9)
        if tries == 0 and not (problem.reduces[:, None] > problem.transfers.T).any():
            assert end <= first.makespan * (1 + 1e-9)


@pytest.mark.thorough
def test_groups_across_racks_are_annealed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight machines of each of four groups, half in each rack: few segments pass between racks."""
    monkeypatch.setattr(critical_path, "TIMED", 1_000_000)
    groups = [[1 + first + 4 * each for each in range(8)] for first in range(4)]
    rack = np.arange(32) // 16
    problem = makespan.Reduction(
        machines=32, segments=32, collective="custom",
        before=[[group[each]] for group in groups for each in range(8)],
        after=[group for group in groups for _ in range(8)],
        transfer=np.where(rack[:, None] == rack, 1.0, 6.0),
    )  # fmt: skip
    assert is_tried(problem, ANNEALED)
    first = makespan.solve(problem, method="rarest-first", restarts=20)
    found = makespan.solve(problem, method="critical-path", runs=10)
    assert found.makespan <= 0.85 * first.makespan
