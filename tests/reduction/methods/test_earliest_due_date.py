"""All-reduce by due dates: valid whatever the times and links, no worse than it began."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import makespan
from makespan import Reduction
from makespan.reduction.bounds import bounds
from makespan.reduction.methods.earliest_due_date import Plan
from tests.thorough import few


def problem_of(seed: int, most: int = 9) -> Reduction:
    """Return a problem with equal or unequal times, in floats or units, maybe without all links."""
    rng = np.random.default_rng(seed)
    n, m = (int(count) for count in rng.integers(2, most, 2))
    equal = seed % 3 == 0
    times: list[Any] = [
        rng.integers(0, most, () if equal else shape) / 4
        for most, shape in ((20, (n, n)), (9, (n, n)), (9, n))
    ]
    if seed % 5 == 0:
        times = [time * np.sqrt(2) for time in times]  # no common unit
    if not equal and n > 2 and seed % 2:
        times[1] = times[1] + 0.25
        times[1][1, 2] = np.inf
    return Reduction(
        machines=n, segments=m, collective="all-reduce", latency=times[0], transfer=times[1],
        reduce=times[2], segment_sizes=rng.integers(1, 5, m) / 2 if seed % 4 == 0 else None,
    )  # fmt: skip


@pytest.mark.parametrize("seed", few(40, 4))
def test_plans_are_valid_and_no_worse_than_their_parts(seed: int) -> None:
    """The referee, which every result passes, accepts them, and none beats a bound."""
    held(problem_of(seed))


def held(problem: Reduction) -> None:
    """Assert it of one problem."""
    parts = makespan.solve(problem, method="reduce-then-broadcast", restarts=1)
    found = makespan.solve(problem, method="earliest-due-date", restarts=30)
    assert found.makespan is not None
    assert parts.makespan is not None
    assert found.makespan <= parts.makespan * (1 + 1e-9)
    assert all(bound.value <= found.makespan * (1 + 1e-9) for bound in bounds(problem))


@pytest.mark.thorough
@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("seed", [1, 5])
def test_both_forms_of_the_loop(seed: int) -> None:
    """As plain Python, and compiled."""
    held(problem_of(seed, 5))


@pytest.mark.parametrize(
    ("times", "n", "m", "within"),
    [((0, 1, 0), 8, 8, 15), ((1, 1, 1), 8, 4, 14), ((1.1, 1, 1.3), 6, 12, 24.0)],
)
def test_plans_are_near_their_bounds(times: Any, n: int, m: int, within: float) -> None:
    """A hundred runs reach what a reduction and a broadcast do not."""
    latency, transfer, reduce = times
    problem = Reduction(
        machines=n, segments=m, collective="all-reduce", latency=latency, transfer=transfer,
        reduce=reduce,
    )  # fmt: skip
    found = makespan.solve(problem, method="earliest-due-date", restarts=100)
    parts = makespan.solve(problem, method="reduce-then-broadcast", restarts=3)
    assert found.makespan is not None
    assert parts.makespan is not None
    assert found.makespan <= within < parts.makespan


def test_ports_of_a_round_are_dealt_out_by_due_date() -> None:
    """All sends of a moment are decided together: so 32 machines need no round more than three
    segments must have.
    """
    problem = Reduction(machines=32, segments=3, collective="all-reduce", transfer=1)
    found = makespan.solve(problem, method="earliest-due-date", restarts=400)
    assert (found.makespan, found.status) == (11.0, "optimal")


def test_a_mirrored_plan_is_the_plan_backwards() -> None:
    """Copies become parts, in the opposite direction and order; twice is none."""
    rows = np.array([[1, 0, 0, 0], [0, 1, 0, 1]])
    times = np.array([[0, 3], [5, 7]])
    turned = Plan(rows, times).mirrored()
    assert turned.rows.tolist() == [[1, 0, 0, 0], [0, 1, 0, 1]]
    assert turned.times.tolist() == [[0, 2], [4, 7]]
    again = turned.mirrored()
    assert (again.rows.tolist(), again.times.tolist()) == (rows.tolist(), times.tolist())
