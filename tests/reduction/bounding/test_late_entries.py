"""The bound of the last segments that enter a group, against plans and by hand."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import makespan
from makespan import Interconnect, Reduction
from makespan.reduction.bounding.late_entries import _starts, late_entries
from makespan.reduction.bounding.packing import packing
from makespan.reduction.generate import generate
from makespan.reduction.halves.tree_packing import narrow
from tests.oracles import reduction_brute as oracle
from tests.oracles.reduction_optimum import optimum
from tests.thorough import few


@pytest.mark.parametrize("seed", few(120, 6))
def test_it_is_below_the_optimum_of_tiny_networks(seed: int) -> None:
    """Shared links, routers, several ports a machine, sizes that differ, in both directions."""
    rng = random.Random(seed)
    while True:
        try:
            problem = oracle.random_problem(rng, network=True, wide=True)
        except makespan.ProblemError:
            continue
        if problem.statement.one_way and problem.items * len(problem.machines) <= 8:
            break
    best = oracle.best(problem)
    assert best is None or late_entries(problem) <= best * (1 + 1e-9)


@pytest.mark.parametrize("collective", ["broadcast", "reduce", "all-gather", "scatter", "custom"])
@pytest.mark.parametrize("seed", few(16, 2))
def test_it_is_below_plans_of_larger_networks(seed: int, collective: Any) -> None:
    """Of all topologies, some with a port for each link."""
    topology = ("nodes", "torus", "switch", "tree", "nodes", "mesh", "hypercube", "bus")[seed % 8]
    problem = generate(
        np.random.default_rng(seed), machines=8, segments=1 + 3 * (seed % 4), network=topology,
        collective=collective, spread=0.5 * (seed % 2), ports=("machines", "links")[seed % 3 == 0],
    )  # fmt: skip
    plan = makespan.solve(problem, method="rarest-first", restarts=2, rebuilds=0)
    assert late_entries(problem) <= plan.makespan * (1 + 1e-9)


@pytest.mark.parametrize("seed", few(200, 4))
def test_it_is_below_the_optimum_of_a_table(seed: int) -> None:
    """Tables and two racks of three or four machines, to which more segments go than have ports."""
    rng = np.random.default_rng(seed)
    count, latency = 3 + seed % 2, seed // 2 % 2
    rack = np.arange(count) >= rng.integers(1, count)
    transfer = np.where(rack[:, None] == rack, 1.0, float(rng.integers(2, 9)))
    if seed // 4 % 2:
        transfer = rng.integers(1, 9, (count, count)).astype(float)
    problem = Reduction(
        machines=count, segments=int(rng.integers(2, 6 if count == 3 else 4)), transfer=transfer,
        latency=latency * rng.integers(0, 4, (count, count)).astype(float),
        reduce=rng.integers(0, 3, count).astype(float),
        collective=("broadcast", "reduce")[seed // 8 % 2],
    )  # fmt: skip
    plan = makespan.solve(problem, method="rarest-first", restarts=20, rebuilds=20)
    assert plan.makespan is not None
    found = optimum(problem, plan.makespan, seconds=10.0)
    assert late_entries(problem) <= found.makespan * (1 + 1e-9)


def test_a_port_takes_whole_segments() -> None:
    """Eight segments enter a rack of six: a port takes two, 8 seconds each, and six more."""
    rack = np.arange(13) >= 7
    transfer = np.where(rack[:, None] == rack, 1.0, 8.0)
    for collective in ("broadcast", "reduce"):
        problem = Reduction(machines=13, segments=8, transfer=transfer, collective=collective)
        assert late_entries(problem) == pytest.approx(22)


@pytest.mark.parametrize(("collective", "least"), [("broadcast", 36.5), ("all-gather", 26.25)])
def test_what_comes_to_nodes_last_still_spreads(collective: Any, least: float) -> None:
    """Four nodes of eight devices, and a card that takes 1 second for each of 32 segments.

    Broadcast: 29 segments have left the first node after 29 seconds. Nine copies of the last three
    to other nodes, each 2.25 seconds on its way, take 6.5; to eight devices of the last node it is
    another second. All-gather: 23 segments, 2.25 seconds, and the same second.
    """
    problem = replace(makespan.read_problem("examples/networks/nodes.toml"), collective=collective)
    assert late_entries(problem) == pytest.approx(least)
    assert makespan.lower_bound(problem).value == least


@pytest.mark.parametrize("seed", range(20))
def test_the_last_begin_no_later_than_one_after_another(seed: int) -> None:
    """Over links of different speed each next segment goes over the one that is free first."""
    rng = np.random.default_rng(seed)
    each = np.concatenate([rng.choice([0.1, 0.4, 1.0, 1.5], 9), [0.1]])
    free, begun = np.zeros(10), []
    for _ in range(60):
        link = int(np.argmin(free))
        begun.append(free[link])
        free[link] += each[link]
    found = _starts(np.arange(10), each, np.ones(60), [1, 4, 40])
    assert found.tolist() == pytest.approx([begun[-1], begun[-4], begun[-40]])


def test_nothing_is_narrow_without_time() -> None:
    """All is there as soon as latency lets it."""
    network = Interconnect(4, topology="ring", rate=np.inf, latency=1.0)
    problem = Reduction(network=network, segments=3, collective="broadcast")
    result = makespan.solve(problem, method="tree-packing", runs=2)
    assert result.makespan == result.lower_bound == 2.0


def test_nodes_are_what_nothing_enters_twice() -> None:
    """Groups that the cards lead to, and none within."""
    network = Interconnect(
        6, topology="nodes", shape=[2, 3], rate=8.0,
        links=[("card 1", "switch", 1.0), ("card 2", "switch", 1.0)],
    )  # fmt: skip
    packed = packing(problem := Reduction(network=network, segments=24, collective="all-gather"))
    assert packed is not None
    assert packed.seconds == pytest.approx(12.0)  # 12 segments over a card
    found = [np.flatnonzero(group).tolist() for group in narrow(problem, packed, 0.9)]
    assert sorted(found) == [[0, 1, 2], [3, 4, 5]]
