"""Reductions of so many bytes where messages and combinations cost differently by machine."""

from __future__ import annotations

import numpy as np
import pytest

from makespan import Reduction, lower_bound, read_problem, save, solve
from makespan.core.errors import ProblemError
from tests.thorough import few


def random_open(rng, machines, collective="reduce"):
    """Return a problem with a table for every cost."""
    return Reduction(
        machines=machines,
        segments="auto",
        collective=collective,
        bytes=float(rng.integers(1, 100)),
        latency=rng.integers(0, 4, (machines, machines)).astype(float),
        message_overhead=rng.integers(1, 4, (machines, machines)).astype(float),
        transfer_per_byte=rng.integers(0, 6, (machines, machines)) / 4,
        reduce_per_byte=rng.integers(0, 3, machines) / 4,
        reduce_overhead=rng.integers(0, 3, machines) / 2,
    )


@pytest.mark.parametrize("collective", few(["reduce", "broadcast", "all-reduce"], 1))
def test_bounds_hold_for_every_count(collective):
    """No plan for a number of segments ends before the bound over all numbers."""
    rng = np.random.default_rng(5)
    for _ in range(5):
        problem = random_open(rng, int(rng.integers(2, 5)), collective)
        bound = lower_bound(problem).value
        for count in (1, 2, 3, 5):
            plan = solve(problem.with_segments(count), time_limit=0.1)
            assert bound <= plan.makespan * (1 + 1e-9)


def test_each_segment_costs_its_share():
    """With m segments a transfer costs its overhead and 1/m of the bytes, pair by pair."""
    problem = random_open(np.random.default_rng(1), 3)
    fixed = problem.with_segments(4)
    share = problem.bytes / 4
    assert np.array_equal(
        fixed.transfer, problem.message_overhead + problem.transfer_per_byte * share
    )
    assert np.array_equal(fixed.reduce, problem.reduce_overhead + problem.reduce_per_byte * share)
    result = solve(problem, time_limit=0.5)
    assert result.makespan >= lower_bound(problem).value * (1 - 1e-9)


def test_a_slow_port_is_a_bound():
    """All bytes pass the port of the machine that has only slow links."""
    slow = np.array([[0.0, 1, 9], [1, 0, 9], [9, 9, 0]])
    problem = Reduction(
        machines=3, segments="auto", bytes=100.0, message_overhead=1.0, transfer_per_byte=slow
    )
    bound = lower_bound(problem)
    assert bound.name == "ports"
    assert bound.value == pytest.approx(900.0)


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_tables_are_kept_in_files(tmp_path, suffix):
    """A file holds the tables, and gives the same problem."""
    problem = random_open(np.random.default_rng(2), 4)
    save(problem, tmp_path / f"open.{suffix}")
    assert read_problem(tmp_path / f"open.{suffix}") == problem


def test_tables_of_another_size_are_refused():
    """The entry that is wrong is named, and what is needed."""
    with pytest.raises(ProblemError, match=r"message_overhead: has 2 × 2 entries; 3 × 3"):
        Reduction(machines=3, segments="auto", bytes=1.0, message_overhead=np.ones((2, 2)))
    table = np.ones((3, 3))
    table[1, 2] = -1
    with pytest.raises(ProblemError, match=r"transfer_per_byte\[1\]\[2\]"):
        Reduction(
            machines=3, segments="auto", bytes=1.0, message_overhead=1.0, transfer_per_byte=table
        )
