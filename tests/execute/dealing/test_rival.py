"""What an engine's own map would have taken."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan.execute.dealing import rival
from makespan.execute.dealing.rival import OwnMap, makespan_of

TIMES = st.lists(st.floats(0.0, 10.0, width=32), min_size=1, max_size=40)
SPEEDS = st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=1, max_size=5)


def by_hand(times: list[float], speeds: list[float], in_turn: bool) -> float:
    """Each task to the first worker that is free, or to the next."""
    ends = [0.0] * len(speeds)
    for number, seconds in enumerate(times):
        place = number % len(speeds) if in_turn else ends.index(min(ends))
        ends[place] += seconds / speeds[place]
    return max(ends)


@given(TIMES, SPEEDS, st.booleans())
def test_tasks_in_their_order(times: list[float], speeds: list[float], in_turn: bool) -> None:
    """As somebody would deal them out by hand."""
    found = makespan_of(np.array(times), speeds, in_turn=in_turn)
    assert found == pytest.approx(by_hand(times, speeds, in_turn))


@given(TIMES, SPEEDS, st.floats(0.0, 1.0))
def test_between_no_loss_and_what_was_measured(
    times: list[float], speeds: list[float], overhead: float
) -> None:
    """Of item by item."""
    found = OwnMap(name="map", overhead=overhead).seconds(np.array(times), speeds, batched=False)
    assert found is not None
    assert found.tasks == len(times)
    assert found.low == pytest.approx(by_hand(times, speeds, False))
    slower = [seconds + overhead for seconds in times]
    assert found.high == pytest.approx(by_hand(slower, speeds, False))


def test_chunks_of_a_pool_go_round() -> None:
    """Four for each worker, as multiprocessing cuts them; one worker is slow."""
    own = OwnMap(name="Pool.map", pieces=4, in_turn=True, overhead=0.0)
    found = own.seconds(np.ones(80), [1.5, 0.5], batched=False)
    assert found is not None
    assert (found.low, found.high, found.tasks) == (80.0, 80.0, 8)


def test_nothing_is_said_where_nobody_knows() -> None:
    assert OwnMap(name="map").seconds(np.ones(9), [1.0], batched=False) is None
    assert OwnMap(name="map", overhead=0.1).seconds(np.ones(0), [1.0], batched=False) is None


def test_of_many_tasks_neighbours_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """That changes little."""
    times = np.random.default_rng(0).lognormal(0.0, 0.5, 2_000)
    exact = OwnMap(name="map", overhead=0.1).seconds(times, [1.0] * 4, batched=False)
    monkeypatch.setattr(rival, "MOST_TASKS", 300)
    found = OwnMap(name="map", overhead=0.1).seconds(times, [1.0] * 4, batched=False)
    assert exact is not None
    assert found is not None
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), rel=0.02)
