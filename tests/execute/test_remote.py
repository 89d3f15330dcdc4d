"""A function meets a chunk."""

from __future__ import annotations

import pickle
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from makespan.execute import remote
from makespan.execute.dealing.engine import Outcome
from makespan.execute.pickles import outcome_of
from makespan.execute.remote import FileChunk
from tests.execute import functions


def sent(function: Any) -> bytes:
    return pickle.dumps(remote.Call(function, {}))


def work(
    function: bytes,
    data: Any,
    low: int,
    batched: bool,
    count: int = 1,
    key: str = "",
    parts: int = 1,
    inputs: dict[Any, Any] | None = None,
) -> Outcome:
    """Return what the client makes of what is sent back of ``count`` items."""
    key = key or uuid.uuid4().hex
    brought = remote.work(function, data, key, low, low + count, batched, parts, inputs)
    return outcome_of(*pickle.loads(pickle.dumps(brought)))


def chunk(*items: object) -> list[bytes]:
    """Return items as they are sent to a worker with one thread."""
    return [pickle.dumps(list(items))]


def naps(item: int) -> int:
    """Sleep longer for some."""
    time.sleep(0.02 if item == 0 else 0.001)
    return item * item


def paired(item: list[int]) -> set[int]:
    """Sleep a little, so that threads take turns."""
    time.sleep(0.001)
    return {item[0], item[1] ** 2}


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_parts_make_up_the_chunk(parts: int, batched: bool) -> None:
    """Threads that share a chunk do each item once, and say which."""
    function = sent(functions.doubled if batched else naps)
    data = np.arange(10) if batched else chunk(*range(10))
    with ThreadPoolExecutor(parts) as pool:
        found = list(
            pool.map(
                lambda part: work(function, data, 100, batched, 10, f"{parts} {batched}", parts),
                range(parts),
            )
        )
    values: dict[int, int] = {}
    for outcome in found:
        places = [place for first, last in outcome.rows for place in range(first, last)]
        assert len(places) == len(outcome.values)
        values.update(zip(places, outcome.values, strict=True))
        assert outcome.start <= outcome.end
    assert values == {100 + n: 2 * n if batched else n * n for n in range(10)}
    assert sum(len(outcome.values) for outcome in found) == 10


def test_idle_threads_do_what_others_have_not_begun() -> None:
    """While one is busy with a long item, another does the rest."""
    with ThreadPoolExecutor(2) as pool:
        arguments = sent(naps), chunk(*range(9)), 0, False, 9, "two", 2
        calls = [pool.submit(work, *arguments) for _ in range(2)]
        found = sorted((call.result() for call in calls), key=lambda one: len(one.values))
    assert sum(len(one.values) for one in found) == 9
    assert len(found[0].values) < 5


def test_what_is_taken_back_is_not_done() -> None:
    """Neither of a chunk under way, nor of one that waits; what was begun is done once."""
    begun, go_on = threading.Event(), threading.Event()

    def waits(item: int) -> int:
        begun.set()
        assert go_on.wait(10.0)
        return item

    call = remote.Call(waits, {})
    with ThreadPoolExecutor(1) as pool, mock.patch.object(remote, "_function", return_value=call):
        first = pool.submit(work, b"", chunk(*range(10)), 0, False, 10, "first")
        assert begun.wait(10.0)
        chunks = [("first", 0, 10), ("second", 10, 20), ("third", 20, 21)]
        (here, *_), *others = remote.taken_back(chunks, 0.5)
        assert here == 1
        assert [end for _, end, _ in others] == [11, 20]
        assert [end for _, end, _ in remote.taken_back(chunks, 0.0)] == [1, 10, 20]
        go_on.set()
        assert first.result().values == [0]
        assert first.result().rows == ((0, 1),)
        second = pool.submit(work, b"", chunk(*range(10)), 10, False, 10, "second").result()
    assert (second.values, second.rows) == ([], ())
    assert remote.taken_back([("first", 0, 10)], 1.0)[0][:2] == (1, 1)


def test_old_shares_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker does not keep what it knew of each chunk for ever."""
    monkeypatch.setattr(remote, "MOST_SHARES", 5)
    for _ in range(20):
        work(sent(functions.squared), chunk(1), 0, False)
    assert len(remote._shares) <= 5


def test_a_failing_item_is_named_and_the_rest_computed() -> None:
    """The failure knows its place in the data and the worker's traceback."""
    outcome = work(sent(functions.fails_on_seven), chunk(6, 7, 8), 106, False, 3)
    assert outcome.values == [6, None, 8]
    (failure,) = outcome.failures
    assert (failure.first, failure.last) == (107, 107)
    assert isinstance(failure.error, ValueError)
    assert "in fails_on_seven" in failure.traceback
    assert str(failure) == "item 107: ValueError: seven is not allowed"


@pytest.mark.parametrize("batched", [False, True])
def test_who_leaves_fails(batched: bool) -> None:
    """Dask would end the worker."""
    outcome = work(sent(sys.exit), chunk("bye"), 5, batched)
    assert str(outcome.failures[0]).startswith("item 5: SystemExit")


def test_a_failing_batch_fails_as_a_whole() -> None:
    """All items of the batch are named."""
    outcome = work(sent(functions.fails_on_large), chunk(89, 90, 91), 89, True, 3)
    assert outcome.values == [None] * 3
    assert str(outcome.failures[0]) == "items 89 to 91: ValueError: too large"


def test_a_batch_gives_one_result_an_item() -> None:
    """Anything else is a failure that says so."""
    outcome = work(sent(functions.too_few), chunk(1, 2), 0, True, 2)
    assert "returned 1 results for 2 items" in str(outcome.failures[0])
    outcome = work(sent(functions.squared), np.array([3]), 0, True)
    assert outcome.values.tolist() == [9]
    outcome = work(sent(sum), chunk(1, 2), 0, True, 2)
    assert "one result an item; got int" in str(outcome.failures[0])


class Unpicklable(Exception):
    """An error that can't travel."""

    def __init__(self, first: object, second: object) -> None:
        super().__init__(first)
        self.lock = second


def raises_unpicklable(item: object) -> None:
    raise Unpicklable(item, threading.Lock())


def test_an_error_that_cannot_be_pickled_travels_as_text() -> None:
    """It arrives with its name and message."""
    outcome = work(sent(raises_unpicklable), chunk(1), 0, False)
    assert "Unpicklable: 1" in str(outcome.failures[0])


def test_files_are_files_again() -> None:
    """The function gets a path with the name and content of the client's file, for a while."""
    files = [pickle.dumps(FileChunk(("a.txt", "a.txt"), (b"one", b"two")))]
    outcome = work(sent(functions.text_of), files, 0, False, 2)
    assert outcome.values == [("a.txt", "one"), ("a.txt", "two")]
    kept = work(sent(Path), files, 0, False, 2).values
    assert not any(path.exists() for path in kept)


def test_what_cannot_be_pickled_fails_alone() -> None:
    """It is named; arrays in other results are left out of the pickles, not copied."""
    table = np.arange(1000)
    given = [(1, table), threading.Lock(), {2}]
    failures: list[Any] = []
    leaving = remote._leaving(given, [5, 6, 9], failures)
    assert np.shares_memory(np.frombuffer(leaving.buffers[0][0], dtype=table.dtype), table)
    assert leaving.__sizeof__() >= table.nbytes
    outcome = outcome_of(((5, 7), (9, 10)), leaving, tuple(failures), 0.0, 1.0)
    assert outcome.values[1:] == [None, {2}]
    (failure,) = outcome.failures
    assert str(failure).startswith("item 6: TypeError: the result, a lock, can't be pickled")
    assert remote._leaving([1, "a", table], [0, 1, 2], failures)[2] is table


def test_what_cannot_be_unpickled_fails_alone() -> None:
    """Here, where the worker could pickle it."""
    leaving = remote._leaving([(1,), ("two",)], [3, 7], [])
    leaving.data[1] = b"nothing"
    outcome = outcome_of(((3, 4), (7, 8)), leaving, (), 0.0, 1.0)
    assert outcome.values == [(1,), None]
    assert "item 7: TypeError: the result can't be unpickled here" in str(outcome.failures[0])


def test_a_value_for_several_items_fails_for_all_of_them() -> None:
    """Where a batch's results are one value, and not a list."""
    leaving = remote._leaving((1, {2}), [3, 4], [])
    assert outcome_of(((3, 5),), leaving, (), 0.0, 1.0).values == (1, {2})
    leaving.data[0] = b"nothing"
    outcome = outcome_of(((3, 5),), leaving, (), 0.0, 1.0)
    assert outcome.values == [None, None]
    assert (outcome.failures[0].first, outcome.failures[0].last) == (3, 4)
    failures: list[Any] = []
    remote._leaving((1, threading.Lock()), [3, 4], failures)
    assert [told[:2] for told in failures] == [(3, 4)]


class Counted:
    """Counts how often it is unpickled."""

    times = 0

    def __setstate__(self, state: object) -> None:
        Counted.times += 1

    def __getstate__(self) -> object:
        return 1


@pytest.mark.parametrize("parts", [1, 3])
def test_threads_unpickle_a_chunk_once_and_meet_what_futures_hold(parts: int) -> None:
    """Each result knows its place, whoever took the item; so does one whose future has failed."""
    Counted.times = 0
    broken = remote.Broken(remote.failure(0, 0, KeyError("lost"))[2])
    held = {"a": 4, "b": broken}
    data = chunk(*([remote.Input("b" if n == 7 else "a"), n, Counted()] for n in range(9)))
    with ThreadPoolExecutor(parts) as pool:
        key = uuid.uuid4().hex
        arguments = sent(paired), data, 100, False, 9, key, parts, held
        calls = [pool.submit(work, *arguments) for _ in range(parts)]
        found = [call.result() for call in calls]
    values = {
        place: value
        for outcome in found
        for place, value in zip(
            [place for row in outcome.rows for place in range(*row)], outcome.values, strict=True
        )
    }
    assert values == {100 + n: None if n == 7 else {4, n * n} for n in range(9)}
    assert [str(one) for outcome in found for one in outcome.failures] == [
        "item 107: KeyError: 'lost'"
    ]
    assert Counted.times == 9


def test_what_is_taken_back_is_not_held() -> None:
    """A worker whose items go to others lets go of them."""
    data = chunk(1, 2, 3)
    share = remote._share("not held", 0, 3)
    share.items(data, *((taken := share.take()).start, taken.stop))
    assert share._items is not None
    remote.taken_back([("not held", 0, 3)], 0.0)
    assert share._items is None
