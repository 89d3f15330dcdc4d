"""Packings of spanning trees, against linear programmes of all cuts by another solver."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from makespan import Interconnect, Reduction
from makespan.reduction.bounding import packing as module
from makespan.reduction.bounding.packing import packing, shallow, spans, spans_both_ways
from makespan.reduction.bounds import bounds
from makespan.reduction.generate import generate
from makespan.reduction.heuristics.symmetry import occupation_of
from tests.thorough import few

TOPOLOGIES = ("star", "switch", "ring", "mesh", "torus", "tree", "nodes", "complete")


def of_all_cuts(problem: Reduction) -> float:
    """Return the least time in which every group of machines can get what it needs.

    Ports, units and links are held for no longer than that; when they begin is left out.
    """
    ways = occupation_of(problem)
    holds, _ = problem.statement.copied
    unit, count = float(ways.unit or 1), len(ways.giver)
    size = ways.size * unit
    rows, sides = [], []
    for number in range(int(ways.holds.max()) + 1):
        used = (ways.holds == number).any(axis=1)
        rows.append(np.append(np.where(used, ways.lasts, 0.0), -1.0))
        mine = ways.holds[:, 0] == number
        rows.append(np.append(np.where(mine, ways.prepare, 0.0), -1.0))
        sides += [0.0, 0.0]
    for chosen in product((False, True), repeat=len(holds)):
        group = np.array(chosen)
        if not group.any():
            continue
        need = float(size[~holds[group].any(axis=0)].sum())
        over = ~group[ways.giver] & group[ways.taker]
        rows.append(np.append(np.where(over, -1.0, 0.0), 0.0))
        sides.append(-need)
    cost = np.append(np.zeros(count), 1.0)
    return float(linprog(cost, A_ub=np.array(rows), b_ub=np.array(sides)).fun)


def of_all_cuts_both_ways(problem: Reduction) -> float:
    """Return the least time of parts into trees and copies out of them, rooted in any shares."""
    ways, count = occupation_of(problem), len(problem.machines)
    arcs, total = len(ways.giver), problem.items * float(ways.unit or 1)
    rows, sides = [], []
    for number in range(int(ways.holds.max()) + 1):
        lasts = np.where((ways.holds == number).any(axis=1), ways.lasts, 0.0) * total
        mine = np.where(ways.holds[:, 0] == number, ways.prepare, 0.0) * total
        rows += [np.r_[lasts, lasts, np.zeros(count), -1], np.r_[mine, np.zeros(arcs + count), -1]]
        sides += [0.0, 0.0]
    for chosen in product((0.0, 1.0), repeat=count):
        group = np.array(chosen)
        if 0 < group.sum() < count:
            enters = (1 - group[ways.giver]) * group[ways.taker]
            leaves = group[ways.giver] * (1 - group[ways.taker])
            rows.append(-np.r_[enters, np.zeros(arcs), group, 0])
            rows.append(-np.r_[np.zeros(arcs), leaves, group, 0])
            sides += [-1.0, -1.0]
    whole = np.r_[np.zeros(2 * arcs), np.ones(count), 0]
    cost = np.r_[np.zeros(2 * arcs + count), 1]
    found = linprog(cost, np.array(rows), np.array(sides), whole[None], np.ones(1))
    return float(found.fun)


@pytest.mark.parametrize("seed", few(16, 4))
def test_all_reduces_pass_all_cuts_in_both_directions(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without latency, the least time is that of all cuts, whatever ports machines have.

    It is no less where ports wait for the half that they are used in.
    """
    ports: Any = ("machines", "links")[seed % 3 == 0]
    problem = random_problem(seed, "all-reduce", latency=0.0, ports=ports)
    assert spans_both_ways(problem)
    found = packing(problem)
    monkeypatch.setattr(module._BothWays, "_halves", lambda self, problem: None)
    packing.cache_clear()
    whole = packing(problem)
    packing.cache_clear()
    assert found is not None
    assert whole is not None
    assert whole.least == pytest.approx(of_all_cuts_both_ways(problem), rel=1e-6)
    assert found.least >= whole.least * (1 - 1e-9)


def random_problem(seed: int, collective: Any, **options: Any) -> Reduction:
    rng = np.random.default_rng(seed)
    topology = TOPOLOGIES[seed % len(TOPOLOGIES)]
    machines = 6 if topology != "nodes" else 8
    given = {"spread": 0.5, "segments": int(rng.integers(1, 9)), "devices": 4} | options
    return generate(rng, machines=machines, network=topology, collective=collective, **given)


@pytest.mark.parametrize("collective", ["broadcast", "reduce", "all-gather", "reduce-scatter"])
@pytest.mark.parametrize("seed", range(16))
def test_cuts_that_are_found_are_all_that_matter(seed: int, collective: Any) -> None:
    """Without latency nothing but amounts counts, whatever ports machines have."""
    ports: Any = ("machines", "links")[seed % 3 == 0]
    problem = random_problem(seed, collective, latency=0.0, ports=ports)
    assert spans(problem)
    found = packing(problem)
    assert found is not None
    least = of_all_cuts(problem)
    assert (
        found.least >= least - 1e-9 * least
    )  # ports of those who first have to get something wait
    if collective in ("all-gather", "broadcast"):
        holders = problem.statement.copied[0].any(axis=1)
        if holders.all():
            assert found.least == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_proved_holds_after_any_number_of_rounds(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bound of fewer cuts is a bound, and lower."""
    problem = random_problem(seed, "broadcast", segments=12)
    whole = packing(problem)
    packing.cache_clear()
    monkeypatch.setattr(module, "ROUNDS", 1)
    begun = packing(problem)
    packing.cache_clear()
    assert whole is not None
    assert begun is not None
    assert 0 < begun.least <= whole.least * (1 + 1e-9)


@pytest.mark.parametrize("seed", few(12, 2))
def test_shallow_packings_pass_all_cuts_in_their_time(seed: int) -> None:
    """Every group gets what it needs, and without latency ports are held for as long as allowed."""
    problem = random_problem(seed, "broadcast" if seed % 2 else "all-gather", latency=0.0)
    ways, (holds, _) = occupation_of(problem), problem.statement.copied
    found, longer = packing(problem), (0.0, 0.5)
    assert found is not None
    amounts = list(shallow(problem, longer))
    assert len(amounts) == len(longer)
    for part, amount in zip(longer, amounts, strict=True):
        for chosen in product((False, True), repeat=len(holds)):
            group = np.array(chosen)
            need = float((~holds[group].any(axis=0)).mean()) if group.any() else 0.0
            assert amount[~group[ways.giver] & group[ways.taker]].sum() >= need - 1e-6
        held = max(
            float((amount * ways.lasts)[(ways.holds == number).any(axis=1)].sum())
            for number in range(int(ways.holds.max()) + 1)
        )
        seconds = held * problem.items * float(ways.unit or 1)
        assert seconds <= found.least * (1 + part) * (1 + 1e-6)


def test_detours_are_left_out_where_there_is_time() -> None:
    """Half round a ring in both directions: nobody gets anything the long way."""
    problem = Reduction(
        network=Interconnect(6, topology="ring"), segments=4, collective="broadcast"
    )
    ways = occupation_of(problem)
    for amount in shallow(problem, [2.0]):
        far = ways.giver
        onward = (ways.taker - ways.giver) % 6 == 1
        away = np.where(onward, far < 3, (far == 0) | (far > 3))
        assert amount[~away].sum() == pytest.approx(0.0, abs=1e-7)
        assert amount.sum() == pytest.approx(5.0)


def test_trees_take_what_their_slowest_port_takes() -> None:
    """A machine that passes everything to two others sends everything twice."""
    network = Interconnect(4, topology="tree", latency=1.0)  # M1 has M2 and M3, M2 has M4
    problem = Reduction(network=network, segments=10, collective="broadcast")
    values = {bound.name: bound.value for bound in bounds(problem)}
    assert values["packing"] == pytest.approx(2 * 10 + 1)


def test_other_problems_are_not_packed() -> None:
    """Segments that some machine does not need, or that are combined and then copied."""
    network = Interconnect(4, topology="ring")
    for collective in ("gather", "scatter", "all-to-all", "all-reduce"):
        assert not spans(Reduction(network=network, segments=4, collective=collective))
    for machines in (1, 65):
        ring = Interconnect(machines, topology="ring")
        assert not spans(Reduction(network=ring, segments=2, collective="broadcast"))
    with_open_count = Reduction(
        network=network, segments="auto", bytes=8.0, message_overhead=1.0, collective="broadcast"
    )
    assert not spans(with_open_count)
