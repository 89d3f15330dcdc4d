"""Maps whose items are in the order of what they are expected to take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from makespan.execute import dask
from makespan.execute.dask import ItemsFailed
from tests.execute.dealing.virtual import Sleeps


def mapped(function: Any, data: Any, client: Any, **options: Any) -> Any:
    return dask.map(function, data, client=client, progress=False, **options)


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


def test_a_size_that_explains_comes_first_the_next_time(client: Any) -> None:
    """The next call begins with the largest."""
    durations = np.random.default_rng(1).lognormal(-4.0, 1.0, 60)
    items = [float(seconds) for seconds in durations]

    class SleepsSo(Sleeps):
        def __call__(self, item: Any) -> Any:
            return super().__call__(durations.tolist().index(item))

    function = SleepsSo(durations)
    first = mapped(function, items, client)
    again = mapped(function, items, client)
    assert again.results == first.results == list(range(60))
    assert again.schedule.amount[0] == pytest.approx(max(items))
    assert first.schedule.amount[0] == 1.0
