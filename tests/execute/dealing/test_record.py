"""Measured activities on one clock."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from makespan.execute.dealing.transfers import Computation, Record, Window, clocks_ahead


@given(st.floats(-1e4, 1e4), st.floats(1e-3, 0.1), st.lists(st.floats(0.01, 5.0), min_size=1))
def test_clocks_are_aligned_within_the_latency(
    ahead: float, latency: float, lengths: list[float]
) -> None:
    """Whatever a worker's clock shows, its offset is found to within the one-way latency."""
    clock, found = 1000.0, []
    for length in lengths:
        start = clock + latency
        within = Window(clock, start + length + latency)
        found.append(Computation("w", 0, 1.0, start + ahead, start + length + ahead, within))
        clock = within.end + 1.0
    assert clocks_ahead(found)["w"] == pytest.approx(ahead, abs=latency + 1e-6)


def test_clocks_that_may_agree_are_left_alone() -> None:
    """Zero is kept where the windows allow it."""
    within = Window(10.0, 12.0)
    assert clocks_ahead([Computation("w", 0, 1.0, 10.4, 11.9, within)]) == {"w": 0.0}


def test_a_record_becomes_a_schedule() -> None:
    """Time starts with the first transfer; workers that joined are machines, too."""
    record = Record(["client", "a"])
    record.transfer("send", "a", 0, 2.0, Window(100.0, 101.0))
    record.transfer("send", "b", 1, 1.0, Window(101.0, 102.0))
    record.computed(Computation("a", 0, 2.0, 101.5, 103.0, Window(101.0, 103.5)))
    record.transfer("return", "a", 0, 2.0, Window(103.5, 104.0))
    schedule = record.schedule()
    assert schedule.machines == ("client", "a", "b")
    assert schedule.words() == ("send", "send", "compute", "return")
    assert schedule.start.tolist() == [0.0, 1.0, 1.5, 3.5]
    assert schedule.peer.tolist() == [1, 2, -1, 0]
    assert schedule.makespan == 4.0


def test_nothing_measured_is_an_empty_schedule() -> None:
    """A run without items has no activity."""
    assert len(Record(["client"]).schedule()) == 0
