"""Items in the order of what they are expected to take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan import InputError
from makespan.execute import dask
from makespan.execute.dask import ItemsFailed
from makespan.execute.dealing.expected import Ordered, ordered, size_that_explains
from makespan.execute.dealing.items import Items, Stream
from tests.execute.dealing.virtual import Sleeps, dealt


def mapped(function: Any, data: Any, client: Any, **options: Any) -> Any:
    return dask.map(function, data, client=client, progress=False, **options)


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


def test_results_and_failures_keep_the_order_of_the_data(client: Any) -> None:
    """Whichever items are begun first; also where they come one by one, or as an array."""

    def fails(item: int) -> int:
        if item in (3, 17):
            raise ValueError(item)
        return -item

    data = list(range(40))
    with pytest.raises(ItemsFailed) as caught:
        mapped(fails, data, client, expected=data)
    execution = caught.value.execution
    assert execution.results == [None if item in (3, 17) else -item for item in data]
    assert [(one.first, str(one.error)) for one in execution.failures] == [(3, "3"), (17, "17")]
    rows = np.arange(40.0)
    found = mapped(np.negative, rows, client, batched=True, expected=rows % 7).results
    assert np.array_equal(found, -rows)


def test_seconds_lie_where_their_items_do(client: Any) -> None:
    """So that a run can say what the next is to expect."""
    durations = np.random.default_rng(0).lognormal(-4.0, 1.0, 60)
    first = mapped(Sleeps(durations), range(60), client)
    assert first.took == pytest.approx(durations, rel=1e-6)
    again = mapped(Sleeps(durations), range(60), client, expected=first)
    assert again.results == list(range(60))
    assert again.took == pytest.approx(durations, rel=1e-6)


def test_a_size_that_explains_is_found(client: Any) -> None:
    """The next call begins with the largest; where nothing explains the seconds, it does not."""
    durations = np.random.default_rng(1).lognormal(-4.0, 1.0, 60)
    items = [float(seconds) for seconds in durations]
    assert size_that_explains(Items(items), durations) == "number"
    assert size_that_explains(Items(["a" * int(1e4 * one) for one in items]), durations) == "length"
    arrays = [np.ones(int(1e4 * one)) for one in items]
    assert size_that_explains(Items(arrays), durations) in ("bytes", "length")
    assert size_that_explains(Items(list(range(60))), durations) is None
    assert size_that_explains(Items(items), np.ones(60)) is None

    class SleepsSo(Sleeps):
        def __call__(self, item: Any) -> Any:
            return super().__call__(durations.tolist().index(item))

    function = SleepsSo(durations)
    first = mapped(function, items, client)
    again = mapped(function, items, client)
    assert again.results == first.results == list(range(60))
    assert again.schedule.amount[0] == pytest.approx(max(items))
    assert first.schedule.amount[0] == 1.0


def test_a_long_item_at_the_end_costs_less(client: Any) -> None:
    """Where it is expected, it is begun first."""
    durations = [0.01] * 200 + [1.0]
    _, seconds = dealt(client, Sleeps(durations), Ordered(Items(range(201)), np.array(durations)))
    _, late = dealt(client, Sleeps(durations), range(201))
    assert seconds < 1.1
    assert late > 1.5
