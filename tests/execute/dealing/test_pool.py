"""Items that nobody has."""

from __future__ import annotations

from hypothesis import given, strategies as st

from makespan.execute.dealing.items import Items
from makespan.execute.dealing.pool import Pool, Range
from makespan.execute.dealing.sizes import next_piece


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
    """A piece is half its worker's share of the rest at most, or what is worth a message."""
    speed = {str(place): each for place, each in enumerate(speeds)}
    left, least = dict.fromkeys(speed, 0.0), dict.fromkeys(speed, load / 1000)
    rest, together = load, sum(speeds)
    while rest > 0.0 and (found := next_piece(rest, list(speed), left, speed, least)):
        name, amount = found
        share = rest * speed[name] / together / 2
        assert amount == rest or amount <= max(share, least[name]) * (1 + 1e-9)
        rest, left[name] = rest - amount, left[name] + amount
    assert rest <= len(speeds) * load / 1000


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 60))
def test_what_is_discarded_is_gone(count: int, low: int, high: int) -> None:
    """And nothing else."""
    pool = Pool(Items(range(count)))
    pool.put(Range(0, count))
    pool.discard(low, max(low, high))
    found: list[int] = []
    while pool:
        one = pool.take(7.0, 3)
        assert len(one) <= 3
        found += range(one.low, one.high)
    assert found == [item for item in range(count) if not low <= item < high]
