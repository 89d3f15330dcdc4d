"""The search on thresholds of functions, without a table."""

from __future__ import annotations

import numpy as np
import pytest

from makespan import Affine, Partition, solve
from makespan.partition.model.curves import Curve


def functions(kind: str, rng):
    slope = float(rng.uniform(0.1, 3.0))
    if kind == "affine":
        return Affine(float(rng.random()), slope)
    if kind == "plateaus":
        return Curve(lambda count: slope * np.ceil(count / 7))
    if kind == "flat":
        return Curve(lambda count: 2.0 + 0.0 * count)
    if kind == "steps":
        return Curve(lambda count: np.floor(np.log2(1 + count)))
    return Curve(lambda count: slope * count**1.5)


KINDS = ("affine", "plateaus", "flat", "steps", "powers")


@pytest.mark.parametrize("seed", range(40))
def test_functions_are_split_as_their_tables_are(seed):
    """The plan is that of the threshold search on the table, count by count."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(KINDS, size=rng.integers(1, 6))
    costs = [functions(kind, rng) for kind in kinds]
    tasks = int(rng.integers(0, 400))
    limits = {"lower": [int(x) for x in rng.integers(0, 5, len(costs))]}
    if seed % 3 == 0:
        limits["upper"] = [int(x) for x in rng.integers(5, 300, len(costs))]
    problem = Partition(tasks=tasks, costs=costs, **limits)
    curves, table = solve(problem, method="monotone"), solve(problem, method="threshold")
    assert curves.status == table.status
    assert curves.makespan == table.makespan
    assert curves.answer == table.answer


def test_a_trillion_tasks_over_a_thousand_affine_resources():
    """Everyone ends together to within one task, and nothing is tabulated."""
    rng = np.random.default_rng(0)
    per_unit = rng.uniform(1e-4, 1e-3, 1000)
    result = solve(Partition(tasks=10**12, costs=[Affine(1.0, float(x)) for x in per_unit]))
    assert (result.method, result.status) == ("monotone", "optimal")
    assert sum(result.answer["counts"].values()) == 10**12
    assert result.schedule.end.min() >= result.makespan - per_unit.max()
    fluid = (10**12 + (1.0 / per_unit).sum()) / (1.0 / per_unit).sum()
    assert result.makespan == pytest.approx(fluid, rel=1e-9)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"lower": 3}, "the least allowed counts add up to 6, above the 5 tasks"),
        ({"upper": 2}, "the greatest allowed counts add up to 4, below the 5 tasks"),
        ({"lower": 6}, "'R1' has no allowed count up to 5"),
        ({"deadline": 2.0}, "the least makespan is 4.0, above the deadline 2.0"),
        ({"deadline": 0.5, "lower": 1}, "'R1' can't meet the deadline 0.5 with any count"),
    ],
)
def test_infeasible_functions_are_explained(parts, reason):
    """The same reasons as for tables."""
    result = solve(Partition(tasks=5, costs=[Affine(1.0, 1.0), Affine(1.0, 1.0)], **parts))
    assert result.status == "infeasible"
    assert result.notes[0] == reason


def test_most_tasks_by_a_deadline():
    """Each resource takes what it can by the deadline."""
    costs = [Affine(1.0, 1.0), Affine(0.0, 2.0)]
    result = solve(Partition(tasks=100, costs=costs, deadline=9.0, require="most"))
    assert result.answer["counts"] == {"R1": 8, "R2": 4}
    assert "12 of 100 tasks can be split at most" in result.notes
