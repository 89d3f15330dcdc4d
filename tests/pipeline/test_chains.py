"""Cuts for given machines, and covers by sets of them."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from makespan import Interconnect, Pipeline, solve
from makespan.core.control import Control
from makespan.core.solution import Status
from makespan.pipeline.chains import Cutter, chains
from makespan.pipeline.labels import covering
from makespan.pipeline.mapping import Mapping, values_of
from makespan.pipeline.state_space import Costs
from tests.oracles.pipeline_random import mixed


def by_hand(
    work: np.ndarray, machines: int, transfer: np.ndarray, held: np.ndarray, room: float
) -> float:
    """Return the least of the longest interval or transfer, over all cuts."""
    best, count = np.inf, len(work)
    for parts in range(1, min(machines, count) + 1):
        for inner in combinations(range(1, count), parts - 1):
            edges = (0, *inner, count)
            loads = [work[a:b].sum() for a, b in pairwise(edges)]
            full = max(held[a:b].sum() for a, b in pairwise(edges))
            if full <= room:
                best = min(best, max([*loads, *transfer[list(inner)]]))
    return best


@pytest.mark.parametrize("seed", range(30))
def test_chains(seed: int, form: object) -> None:
    """Parametric search finds the least period of all cuts, with transfers and memory."""
    rng = np.random.default_rng(seed)
    count, machines = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    work, held = rng.integers(1, 9, count).astype(float), rng.integers(0, 3, count).astype(float)
    transfer = rng.integers(0, 12, count + 1).astype(float) * (seed % 2)
    room = float(rng.integers(2, 9))
    sums = [np.concatenate([[0.0], np.cumsum(column)]) for column in (work, held)]
    found = chains(*sums, room, machines, transfer, 0.0)
    best = by_hand(work, machines, transfer, held, room)
    if found is None:
        assert best == np.inf
        return
    alone = work.sum() if held.sum() <= room else np.inf  # which needs no transfer
    assert min(found[0], alone) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(30))
def test_cutter(seed: int, form: object) -> None:
    """The stages are cut as well as by trying all cuts, for period and for latency."""
    problem = mixed(seed)
    cutter = Cutter(Costs.of(problem), problem.overlap)
    count, machines = len(problem.stages), len(problem.machines)
    sequence = list(np.random.default_rng(seed).permutation(machines)[: min(count, machines)])
    found = []
    for inner in combinations(range(1, count), len(sequence) - 1):
        mapping = Mapping.of((0, *inner, count), sequence)
        far = Costs.of(problem).far
        spans = zip(mapping.edges, mapping.edges[1:], sequence, strict=False)
        if all(b <= far[a, own] for a, b, own in spans):
            found.append(values_of(problem, mapping))
    period, _ = cutter(sequence)
    latency, _ = cutter(sequence, longest=False)
    assert period == pytest.approx(min((each.period for each in found), default=np.inf))
    assert latency == pytest.approx(min((each.latency for each in found), default=np.inf))


@pytest.mark.parametrize("seed", range(20))
def test_covering(seed: int, form: object) -> None:
    """A period that some mapping without transfers keeps is covered, one below the least is not."""
    rng = np.random.default_rng(seed)
    problem = Pipeline(rng.integers(1, 9, 7).astype(float), 4, speeds=rng.integers(1, 4, 4))
    least = solve(problem, method="dynamic-programming").objective.value
    control = Control()
    covered = covering(problem, Costs.of(problem, least * (1 + 1e-9)), control)
    assert values_of(problem, covered.mappings[0]).period == pytest.approx(least)
    assert covering(problem, Costs.of(problem, least * (1 - 1e-9)), control).mappings == []


def test_a_million_stages() -> None:
    """Identical machines: proved at once, and the bound of shared work is nearly met."""
    work = np.random.default_rng(0).uniform(1.0, 10.0, 1_000_000)
    result = solve(Pipeline(work, machines=1000))
    assert (result.status, result.method) == (Status.OPTIMAL, "chains-to-chains")
    assert work.sum() / 1000 <= result.objective.value <= work.sum() / 1000 + 10.0


def test_transfers_forbid_edges() -> None:
    """The middle edge would balance best, but its transfer takes longer than a worse cut."""
    columns = {"work": [2.0, 2.0, 2.0, 2.0], "data": [1.0, 9.0, 1.0, 0.0]}
    result = solve(Pipeline(columns, Interconnect(2, rate=1.0)))
    assert result.method == "chains-to-chains"
    assert result.objective.value == 6.0
