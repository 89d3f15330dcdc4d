"""Flows between pairs of machines, against a linear programme of each pair by another solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from makespan import Reduction
from makespan.reduction.bounding.flows import flows, goes_straight
from makespan.reduction.heuristics.symmetry import occupation_of
from tests.reduction.bounding.test_packing import random_problem
from tests.thorough import few


def of_pairs(problem: Reduction) -> float:
    """Return the least time of a flow for each pair, in which ports may begin at once."""
    ways, count = occupation_of(problem), len(problem.machines)
    holds, lacks = problem.statement.copied
    demand = (holds * problem.sizes) @ lacks.T.astype(float)
    pairs, arcs = np.argwhere(demand > 0), len(ways.giver)
    at = [np.equal.outer(np.arange(count), side).astype(float) for side in (ways.taker, ways.giver)]
    equal, sides = [], []
    for place, (one, other) in enumerate(pairs.tolist()):
        row = np.zeros((count, len(pairs) * arcs + 1))
        row[:, place * arcs : (place + 1) * arcs] = at[0] - at[1]
        equal.append(row)
        sides.append((np.arange(count) == other) * 1.0 - (np.arange(count) == one))
        sides[-1] *= demand[one, other]
    rows = []
    for number in range(int(ways.holds.max()) + 1):
        lasts = np.where((ways.holds == number).any(axis=1), ways.lasts, 0.0)
        rows.append(np.append(np.tile(lasts, len(pairs)), -1.0))
    cost = np.append(np.zeros(len(pairs) * arcs), 1.0)
    found = linprog(
        cost, np.array(rows), np.zeros(len(rows)), np.concatenate(equal), np.concatenate(sides)
    )
    return float(found.fun) * float(ways.unit or 1)


@pytest.mark.parametrize("collective", ["all-to-all", "scatter", "gather"])
@pytest.mark.parametrize("seed", few(16, 2))
def test_one_programme_for_each_end_is_that_of_all_pairs(seed: int, collective: Any) -> None:
    """Without latency, but for ports of machines that first have to get something."""
    ports: Any = ("machines", "links")[seed % 3 == 0]
    problem = random_problem(seed, collective, latency=0.0, ports=ports, segments=6)
    assert goes_straight(problem)
    least = of_pairs(problem)
    assert flows(problem) >= least * (1 - 1e-6)
    if collective == "all-to-all":
        assert flows(problem) == pytest.approx(least, rel=1e-6)


def test_others_do_not_go_straight() -> None:
    """What several get, and what is combined."""
    transfer = np.arange(16.0).reshape(4, 4)
    for collective in ("broadcast", "reduce-scatter", "all-reduce"):
        problem = Reduction(machines=4, segments=4, transfer=transfer, collective=collective)
        assert not goes_straight(problem)
