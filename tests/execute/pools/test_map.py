"""Functions over data on pools of every kind: what the built-in map returns."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from makespan import InputError, execute
from makespan.execute import ItemsFailed
from makespan.execute.dealing import run, sizes
from tests.execute.functions import locked, text_of
from tests.execute.pools import pools
from tests.execute.pools.pools import POOLS
from tests.thorough import few


@pytest.fixture(scope="module", params=POOLS)
def on(request: pytest.FixtureRequest) -> Iterator[Any]:
    with pools.pool(request.param) as found:
        yield found


def mapped(function: Any, *iterables: Any, **options: Any) -> Any:
    return execute.map(function, *iterables, progress=False, **options)


def test_it_is_the_built_in_map(on: Any) -> None:
    """Of one sequence, of several, of arrays and batches, of streams; with what was measured."""
    execution = mapped(pools.square, range(300), on=on)
    assert execution.results == [item**2 for item in range(300)]
    assert sum(one.items for one in execution.workers) == 300
    assert {one.name for one in execution.workers} <= {"0", "1"}
    assert 0.0 < execution.learning <= execution.seconds
    assert len(execution.took) == 300
    assert mapped(pow, [2, 3, 4], [5, 2], on=on).results == [32, 9]
    assert mapped(pow, [2, 3], on=on, exp=3).results == [8, 27]
    rows = np.arange(60.0).reshape(30, 2)
    found = mapped(np.negative, rows, on=on, batched=True).results
    assert isinstance(found, np.ndarray)
    assert np.array_equal(found, -rows)
    assert mapped(pools.doubled, [1, 2, 3], on=on, batched=True, batch_size=2).results == [2, 4, 6]
    assert mapped(pools.square, iter(range(50)), on=on).results == [i * i for i in range(50)]
    assert mapped(pools.square, [], on=on).results == []
    large = mapped(np.sum, [np.ones(200_000) * item for item in range(6)], on=on)
    assert large.results == [200_000.0 * item for item in range(6)]


def test_results_come_one_by_one(on: Any) -> None:
    """Of a source without an end, only as far as they are taken."""
    found = execute.imap(pools.square, itertools.count(), on=on, progress=False)
    assert [next(found) for _ in range(20)] == [item**2 for item in range(20)]
    found.close()


@pytest.mark.parametrize("large", few(["items", "results"], 1))
def test_large_items_are_not_all_in_memory(monkeypatch: pytest.MonkeyPatch, large: str) -> None:
    """What is read of a source, and not taken, is bounded by bytes; chunks are, too."""
    for module in (sizes, run):
        monkeypatch.setattr(module, "HELD", 2**20)
    monkeypatch.setattr(sizes, "WORTH", 2**16)
    size, count, taken, most, chunks = 2**16, 2000, 0, 0, []
    item, result = (bytes(size), 1) if large == "items" else (1, bytes(size))

    def source() -> Iterator[Any]:
        nonlocal most
        for number in range(count):
            most = max(most, number - taken)
            yield item

    def work(batch: list[Any]) -> list[Any]:
        chunks.append(len(batch))
        return [result] * len(batch)

    execute.forget()
    with ThreadPoolExecutor(4) as pool:
        for _ in range(2):  # the second call knows how fast it goes
            taken = 0
            for _ in execute.imap(work, source(), on=pool, batched=True, progress=False):
                taken += 1
            assert taken == count
    assert most <= 6 * 2**20 // size + 2 * max(chunks)
    if large == "items":
        assert max(chunks) <= 2**20 // (3 * 4 * size) + 1


def test_items_that_fail(on: Any) -> None:
    """They are named, with the worker's traceback; the others have their results."""
    with pytest.raises(ItemsFailed, match="item 7: ValueError: seven is not allowed") as caught:
        mapped(pools.fails_on_seven, range(20), on=on)
    assert "in fails_on_seven" in str(caught.value)
    execution = mapped(pools.fails_on_seven, range(20), on=on, keep_going=True)
    assert execution.results == [None if item == 7 else item for item in range(20)]
    assert [failure.first for failure in execution.failures] == [7]


def test_files_are_read_by_workers(on: Any, tmp_path: Path) -> None:
    """By their names."""
    for name in "ab":
        (tmp_path / name).write_text(name * 3)
    data = execute.Files([tmp_path / "a", tmp_path / "b"])
    assert mapped(text_of, data, on=on).results == [("a", "aaa"), ("b", "bbb")]


@pytest.mark.parametrize("kind", ["own", pytest.param("processes", marks=pytest.mark.thorough)])
def test_what_can_t_be_pickled(kind: str) -> None:
    """Is named: a function, an item, the first or a later one, a result."""
    with pools.pool(kind) as on:
        with pytest.raises(InputError, match="function: can't be pickled"):
            mapped(locked(), [1, 2], on=on)
        with pytest.raises(InputError, match=r"data\[0\]: can't be pickled"):
            mapped(len, [locked()], on=on)
        with pytest.raises(InputError, match=r"data\[150\]: can't be pickled"):
            mapped(str, [*range(150), locked()], on=on)
        with pytest.raises(ItemsFailed, match="the result, a lock, can't be pickled"):
            mapped(pools.lock, [1], on=on)
        assert mapped(lambda item: item + 1, [1, 2], on=on).results == [2, 3]


def test_threads_take_what_can_t_be_pickled() -> None:
    """Nothing leaves the process: results are the very objects."""
    things = [object(), object()]
    with ThreadPoolExecutor(2) as on:
        assert mapped(locked(), things, on=on).results == things


async def later(item: int) -> int:
    return item + 1


def test_functions_that_are_asynchronous_are_awaited(on: Any) -> None:
    assert mapped(later, [1, 2, 3], on=on).results == [2, 3, 4]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"on": 0}, "on: 0 is not a number of processes"),
        ({"on": "there"}, "on: 'there' is not a pool"),
        ({"on": 1, "resources": {"GPU": 1}}, "resources: only Dask and Ray"),
        ({"on": 1, "workers": "a"}, "workers: 'a' can't be had; all workers of the pool are used"),
        ({"on": 1, "retries": "many"}, "retries: 'many' is not a number"),
    ],
)
def test_what_is_wrong_is_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        mapped(len, ["a"], **options)


def test_more_that_is_refused() -> None:
    """No items, a number in place of items, an unknown keyword, an executor that is shut down."""
    with pytest.raises(InputError, match="iterables: there are none"):
        mapped(len, on=1)
    with pytest.raises(InputError, match="data: 3 has no items"):
        mapped(len, 3, on=1)
    with pytest.raises(InputError, match="function: 3 can't be called"):
        mapped(3, [1], on=1)
    with pytest.raises(TypeError, match=r"neither map\(\) nor the function .* 'batch_sized'"):
        mapped(pools.square, [1], on=1, batch_sized=3)
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(InputError, match="on: the executor was shut down"):
        mapped(len, ["a"], on=executor)


def test_what_was_learnt_is_used_again() -> None:
    """Until it is forgotten."""
    with ThreadPoolExecutor(2) as on:
        first = mapped(pools.square, range(4000), on=on)
        again = mapped(pools.square, range(4000), on=on)
        assert first.schedule.amount[0] == 1.0
        assert max(again.schedule.amount[:4]) > 4.0
        execute.forget()
        assert mapped(pools.square, range(4000), on=on).schedule.amount[0] == 1.0


@pytest.mark.parametrize("kind", ["threads", "own"])
def test_the_interface_of_futures(kind: str) -> None:
    """Calls, maps, what raises, and the end."""
    with pools.pool(kind) as on:
        with execute.Executor(on) as executor:
            assert executor.submit(pow, 2, exp=5).result() == 32
            assert list(executor.map(pow, [2, 3, 4], [5, 2])) == [32, 9]
            assert list(executor.map(pools.square, range(200))) == [i * i for i in range(200)]
            found = executor.map(pools.fails_on_seven, [6, 7, 8])
            assert next(found) == 6
            with pytest.raises(ValueError, match="seven") as caught:
                next(found)
            assert "in fails_on_seven" in "".join(caught.value.__notes__)
            waiting = executor.map(pools.nap, range(50))
        assert list(waiting) == list(range(50))
        with pytest.raises(RuntimeError, match="after shutdown"):
            executor.submit(pow, 1, 1)
        executor = execute.Executor(on)
        futures = [executor.submit(pools.nap, item) for item in range(500)]
        executor.shutdown(cancel_futures=True)
        assert any(future.cancelled() for future in futures)
        assert all(future.done() for future in futures)
