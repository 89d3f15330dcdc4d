"""Items that nobody has."""

from __future__ import annotations

from hypothesis import given, strategies as st

from makespan.execute.dask.cluster.items import Items
from makespan.execute.dask.maps.pool import Pool, Range, piece


@given(st.integers(1, 100), st.lists(st.floats(0.0, 30.0), min_size=1, max_size=10))
def test_everything_that_is_put_is_taken_once(count: int, loads: list[float]) -> None:
    """Taking piece after piece gives each item exactly once, in order."""
    pool = Pool(Items(range(count)))
    middle = count // 3
    pool.put(Range(middle, count, 1))
    pool.put(Range(0, middle))
    taken: list[int] = []
    step = 0
    while pool:
        one = pool.take(loads[step % len(loads)])
        assert len(one) >= 1
        assert one.losses == (one.low >= middle)
        taken += range(one.low, one.high)
        step += 1
    assert taken == list(range(count))
    assert pool.load == 0.0


def test_nothing_is_not_put() -> None:
    """An empty range leaves the pool empty."""
    pool = Pool(Items(range(3)))
    pool.put(Range(1, 1))
    assert not pool


@given(st.floats(1.0, 1e6), st.lists(st.floats(0.1, 10.0), min_size=1, max_size=8))
def test_pieces_grow_smaller(load: float, speeds: list[float]) -> None:
    """A round of pieces leaves at least half of the rest, and pieces follow the speeds."""
    pieces = [piece(load, speed, sum(speeds), 0.0) for speed in speeds]
    assert sum(pieces) <= load / 2 * (1 + 1e-9)
    order = sorted(range(len(speeds)), key=lambda index: speeds[index])
    assert [pieces[index] for index in order] == sorted(pieces)
