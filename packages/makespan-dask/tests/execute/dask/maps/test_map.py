"""A function over data in one call."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from makespan import InputError
from makespan.core.schedule import Activity
from makespan.execute import dask
from makespan.execute.dask import ItemsFailed
from makespan.execute.dask.cluster.load import WAITING
from makespan.execute.dealing.history import key_of
from makespan.execute.dealing.items import Items
from tests.execute import functions
from tests.execute.conftest import in_process


def mapped(function: Any, data: Any, client: Any, **options: Any) -> Any:
    return dask.map(function, data, client, progress=False, **options)


@pytest.fixture(autouse=True)
def _new(client: Any) -> None:
    """Nothing is known."""
    dask.forget(client)


def test_a_function_is_known_by_what_it_says() -> None:
    """Defined again it is the same; other text, arguments or data make it another."""
    items = Items([1, 2])

    def made(offset: int) -> Any:
        return lambda item: item + offset

    key = key_of(made(1), items)
    assert key_of(made(1), Items([5] * 9)) == key
    assert key_of(made(2), items) != key
    assert key_of(made(1), Items([1.5])) != key
    assert key_of(made(1), Items(np.ones(2))) != key
    assert key_of(partial(pow, 2), items) != key_of(partial(pow, 3), items)
    assert key_of(partial(pow, 2), items) == key_of(partial(pow, 2), items)
    assert key_of(max, items) != key_of(min, items)
    assert key_of(Unlucky(), items) == key_of(Unlucky(), items)

    def endless(item: int) -> int:
        return endless(item)

    assert key_of(endless, items) == key_of(endless, items)
    assert key_of(functions.squared, items) != key_of(functions.slow_square, items)


def test_a_calibration_may_be_given(client: Any, tmp_path: Path) -> None:
    """It, or its file, is begun with; anything else is refused with what to pass."""
    data = list(range(200))
    found = dask.calibrate(functions.slept_each, data[:50], client, time_limit=0.05, repetitions=2)
    execution = mapped(functions.slept_each, data, client, calibration=found)
    assert execution.results == data
    assert execution.schedule.amount[0] > 1.0
    found.save(tmp_path / "cluster.json")
    dask.forget(client)
    again = mapped(functions.slept_each, data, client, calibration=tmp_path / "cluster.json")
    assert again.schedule.amount[0] > 1.0
    with pytest.raises(InputError, match=r"pass what dask\.calibrate"):
        mapped(functions.slept_each, data, client, calibration=found.problem())


def test_a_client_is_made_where_there_is_none() -> None:
    """Without one a cluster on this machine does the work and ends."""
    execution = dask.map(functions.squared, [1, 2, 3], progress=False)
    assert execution.results == [1, 4, 9]


def test_several_sequences_and_keywords(client: Any) -> None:
    """As in ``client.map``; the client may be named."""
    assert dask.map(pow, [2, 3, 4], [5, 2], client, progress=False).results == [32, 9]
    assert dask.map(pow, [2, 3], client=client, exp=3, progress=False).results == [8, 27]
    columns = dask.map(added, [1, 2], [10, 20], client, batched=True, by=1, progress=False)
    assert columns.results == [12, 23]
    assert dask.map(functions.squared, iter([1, 2]), client, progress=False).results == [1, 4]
    with pytest.raises(TypeError, match=r"neither .*'bacth_size'; did you mean 'batch_size'"):
        dask.map(functions.squared, [1], client, bacth_size=3)


def generated(item: int) -> Any:
    return (each for each in range(item)) if item == 5 else [item]


def test_a_result_that_cannot_be_pickled_leaves_connections_whole(client: Any) -> None:
    """Its item fails, all others have results, in this call and the next, of any kind."""
    data = list(range(30))
    for _ in range(3):
        with pytest.raises(ItemsFailed, match=r"item 5: .*can't be pickled") as caught:
            mapped(generated, data, client)
        found = caught.value.execution.results
        assert found == [None if item == 5 else [item] for item in data]
        assert mapped(functions.squared, data, client).results == [item**2 for item in data]
    with dask.Executor(client) as executor, pytest.raises(TypeError, match="can't be pickled"):
        list(executor.map(generated, [4, 5]))


def test_results_come_in_order_as_they_are_there(client: Any) -> None:
    """Of any data; what fails is said in the end."""
    found = dask.imap(functions.slow_square, list(range(90)), client, progress=False)
    assert next(found) == 0
    assert list(found) == [item * item for item in range(1, 90)]
    assert list(dask.imap(pow, [2, 3], [5, 2], client, progress=False)) == [32, 9]
    assert list(dask.imap(functions.squared, [], client, progress=False)) == []
    failing = dask.imap(functions.fails_on_seven, range(9), client, progress=False)
    with pytest.raises(ItemsFailed, match="failed on 1 of 9"):
        list(failing)


@pytest.mark.thorough
def test_a_stream_is_not_read_far_ahead(client: Any) -> None:
    """Of an endless one the first results can be taken; what is given up leaves nothing."""
    read = []

    def endless() -> Any:
        while True:
            read.append(len(read))
            yield read[-1]

    found = dask.imap(functions.slow_square, endless(), client, progress=False)
    assert [next(found) for _ in range(50)] == [item * item for item in range(50)]
    found.close()
    assert len(read) < 20_000
    assert mapped(functions.squared, iter(range(500)), client).results == [
        item * item for item in range(500)
    ]
    assert mapped(functions.squared, iter([]), client).results == []


def added(first: list[int], second: list[int], by: int = 0) -> list[int]:
    return [one + other + by for one, other in zip(first, second, strict=True)]


@pytest.mark.thorough
def test_a_large_function_is_sent_once(client: Any) -> None:
    """To each worker, beside the chunks."""
    table = bytes(10**6)
    sent: list[int] = []
    original = client.submit

    def counted(*arguments: Any, **options: Any) -> Any:
        sent.append(sum(len(one) for one in arguments if isinstance(one, bytes)))
        return original(*arguments, **options)

    client.submit = counted
    found = mapped(lambda item: item + len(table), list(range(200)), client)
    assert found.results == [item + 10**6 for item in range(200)]
    assert max(sent) == 0


class Unlucky:
    """Raises on the first two calls for an item."""

    tried: ClassVar[dict[int, int]] = {}

    def __call__(self, item: int) -> int:
        self.tried[item] = self.tried.get(item, 0) + 1
        if self.tried[item] <= 2:
            raise ValueError("not yet")
        return item


def test_workers_and_resources_are_kept_to() -> None:
    """Chunks go to those that may be used, and as many at a time as their resources allow."""
    from distributed import Client

    with in_process(3) as cluster, Client(cluster, set_as_default=False) as own:
        found = mapped(functions.slept_each, range(40), own, workers=["0", "2"])
        assert used_by(found) == {"0", "2"}
        address = own.scheduler_info()["workers"]
        place = next(a for a, worker in address.items() if worker["name"] == 1)
        own.run(give, workers=[place])
        time.sleep(0.3)
        found = mapped(functions.slept_each, range(40), own, resources={"GPU": 1})
        assert used_by(found) == {"1"}


async def give(dask_worker: Any) -> None:
    """Give a worker something that others lack."""
    await dask_worker.set_resources(GPU=1)


def used_by(execution: Any) -> set[str]:
    schedule = execution.schedule
    return {schedule.machines[int(m)] for m in schedule.machine[schedule.rows_of(Activity.COMPUTE)]}


def test_annotations_are_kept_to(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by ``client.map``; an argument wins."""
    from dask import annotate

    with annotate(workers=["0", "2"], priority=7):
        assert used_by(mapped(functions.slept_each, range(40), client)) == {"0", "2"}
        assert used_by(mapped(functions.slept_each, range(40), client, workers="1")) == {"1"}
        assert list(dask.imap(functions.squared, [3], client)) == [9]
        given: list[tuple[Any, ...]] = []
        original = client._graph_to_futures

        def noted(*arguments: Any, **options: Any) -> Any:
            from dask import get_annotations

            names = "user_priority", "retries", "resources"
            if options["resources"] != {WAITING: 1}:
                given.append((*(options.get(name) for name in names), get_annotations()))
            return original(*arguments, **options)

        monkeypatch.setattr(client, "_graph_to_futures", noted)
        with annotate(retries=3):
            mapped(functions.slept_each, range(40), client)
        assert {(round(priority), *rest[:2]) for priority, *rest in given} == {(7, None, None)}
        assert all(not rest[-1] for rest in given)
    monkeypatch.undo()
    Unlucky.tried.clear()
    with annotate(retries=2):
        assert mapped(Unlucky(), [1, 2], client).results == [1, 2]
        Unlucky.tried.clear()
        with pytest.raises(ItemsFailed):
            mapped(Unlucky(), [1, 2], client, retries=0)
    with annotate(workers=lambda key: "0"), pytest.raises(InputError, match="function of keys"):
        mapped(functions.squared, [1], client)
