"""Sets of sums over many words: the plain and the compiled loops, and the published table."""

from __future__ import annotations

from math import isclose

import numpy as np
import pytest

from makespan import Partition, solve
from makespan.core.numeric import jit
from tests.thorough import few

FAMILIES = ("iid", "noisy", "ties", "even", "steps of 3 and 5", "holes", "rare odd", "sparse")


def costs_of(family: str, rng, resources: int, tasks: int):
    shape = (resources, tasks + 1)
    counts = np.arange(tasks + 1)
    costs = rng.random(shape)
    if family == "noisy":
        return counts * rng.uniform(0.5, 2.0, (resources, 1)) * (1 + 0.2 * costs)
    if family == "ties":
        return np.floor(6 * costs)
    if family == "even":
        costs[:, 1::2] += 2.0
        costs[:, 2::2][rng.random((resources, tasks // 2)) < 0.5] += 4.0
    elif family == "steps of 3 and 5":
        costs[(counts % 3 > 0) & (counts % 5 > 0) & (rng.random(shape) < 0.999)] = np.inf
    elif family == "holes":
        costs[rng.random(shape) < 0.9] = np.inf
        costs[:, 0] = 0.0
    elif family == "rare odd":
        costs[:, 1::2] = np.inf
        costs[rng.integers(resources), 2 * rng.integers(tasks // 2) + 1] = 0.9
    elif family == "sparse":
        kept = [rng.choice(tasks + 1, size=5, replace=False) for _ in range(resources)]
        return [{0: 0.5, **{int(c): float(rng.random()) for c in row}} for row in kept]
    return costs


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", few(3, 1, thorough=3))
def test_all_ways_agree(family, seed, monkeypatch):
    """Makespan, counts, most tasks and totals do not depend on the loops that found them."""
    rng = np.random.default_rng(seed)
    resources, tasks = int(rng.integers(2, 8)), 2 * int(rng.integers(100, 400)) + 1
    costs = costs_of(family, rng, resources, tasks)
    problem = Partition(tasks=tasks, costs=costs)
    most = Partition(tasks=tasks, costs=costs, require="most")
    sums = Partition(tasks=tasks, costs=costs, objective="total", require="most")
    plain = [solve(p) for p in (problem, most, sums)]
    monkeypatch.setattr(jit, "forced", True)
    compiled = [solve(p) for p in (problem, most, sums)]
    table = [solve(p, method="dynamic-programming") for p in (problem, most, sums)]
    for one, other, third in zip(plain, compiled, table, strict=True):
        assert one.status == other.status == third.status
        assert one.notes[0] == other.notes[0] == third.notes[0]
    for one, other, third in zip(plain[:2], compiled[:2], table[:2], strict=True):
        assert one.makespan == other.makespan == third.makespan
        assert one.answer == other.answer == third.answer
    if plain[2].objective is not None:
        values = [results[2].objective.value for results in (plain, compiled, table)]
        assert all(isclose(value, values[0], rel_tol=1e-12) for value in values)
