"""Items in the order of what they are expected to take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan import InputError
from makespan.execute.dealing.history import Ordered, ordered, size_that_explains
from makespan.execute.dealing.items import Items, Stream
from tests.execute.dealing.engine import InProcess
from tests.execute.dealing.virtual import Sleeps, dealt


@given(st.lists(st.floats(0.0, 100.0), min_size=1, max_size=30))
def test_the_longest_come_first(seconds: list[float]) -> None:
    """As sorted would have them; their loads are the seconds."""
    items = ordered(Items(range(len(seconds))), seconds)
    assert items.order is not None
    assert list(items.data) == sorted(range(len(seconds)), key=lambda item: -seconds[item])
    assert items.load == pytest.approx(sum(seconds), rel=1e-4, abs=1e-3)


def test_what_is_expected_has_many_forms() -> None:
    """Numbers, a function, a column, a field, a mapping, an earlier run."""
    rows = [{"name": "a", "size": 1.0}, {"name": "b", "size": 3.0}, {"name": "c", "size": 2.0}]
    table = np.array([(1, 1.0), (2, 3.0), (3, 2.0)], [("name", int), ("size", float)])
    for items, expected in (
        (rows, [1.0, 3.0, 2.0]),
        (rows, np.array([1, 3, 2])),
        (rows, lambda row: row["size"]),
        (rows, "size"),
        (table, "size"),
        (np.arange(6).reshape(3, 2), (1, 3, 2)),
        ("abc", {"a": 1.0, "b": 3.0}),
        ([1j, 3j, 2j], "imag"),
    ):
        found = ordered(Items(items), expected)
        assert found.order is not None
        assert found.order.tolist() == [1, 2, 0]
        assert list(map(str, found.data)) == [str(items[place]) for place in (1, 2, 0)]
    assert ordered(Items("abc"), None).order is None


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        ([1.0], "expected: has 1 numbers, but there are 3 items"),
        ([1.0, -1.0, 2.0], r"expected\[1\]: -1 is not a number, 0 or more"),
        ([1.0, 2.0, float("nan")], r"expected\[2\]: nan is not a number, 0 or more"),
        ("size", "expected: 'size' gives no seconds: AttributeError"),
        (len, "expected: .* gives no seconds: TypeError"),
        (object(), "expected: .* gives no seconds: TypeError"),
    ],
)
def test_what_is_wrong_is_named(expected: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ordered(Items([1, 2, 3]), expected)
    with pytest.raises(InputError, match="expected: items of an iterator come one by one"):
        ordered(Stream(iter("abc")), [1.0, 2.0, 3.0])


def test_a_size_that_explains_is_found() -> None:
    """A number, a length, bytes; nothing where the seconds have nothing to do with the items."""
    durations = np.random.default_rng(1).lognormal(-4.0, 1.0, 60)
    items = [float(seconds) for seconds in durations]
    assert size_that_explains(Items(items), durations) == "number"
    assert size_that_explains(Items(["a" * int(1e4 * one) for one in items]), durations) == "length"
    arrays = [np.ones(int(1e4 * one)) for one in items]
    assert size_that_explains(Items(arrays), durations) in ("bytes", "length")
    assert size_that_explains(Items(list(range(60))), durations) is None
    assert size_that_explains(Items(items), np.ones(60)) is None


def test_a_long_item_at_the_end_costs_less() -> None:
    """Where it is expected, it is begun first."""
    durations = [0.01] * 200 + [1.0]
    longest_first = Ordered(Items(range(201)), np.array(durations))
    _, seconds = dealt(InProcess(), Sleeps(durations), longest_first)
    _, late = dealt(InProcess(), Sleeps(durations), range(201))
    assert seconds < 1.1
    assert late > 1.5


def test_an_expected_item_waits_for_who_has_room() -> None:
    """The list of Ray's issue 29453, in tenths of seconds: to its bound."""
    durations = [0.1, 0.2, 0.1, 1.0, 0.3, 0.1, 0.4, 1.0, 0.1, 0.3, 0.2, 1.0]
    items = Ordered(Items(range(12)), np.array(durations))
    _, seconds = dealt(InProcess(4), Sleeps(durations), items)
    assert seconds <= 1.05 * sum(durations) / 4
