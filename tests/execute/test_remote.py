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
from makespan.execute.outcome import Outcome
from makespan.execute.remote import FileChunk
from tests.execute import functions


def sent(function: object) -> bytes:
    return pickle.dumps(function)


def work(
    function: bytes,
    data: Any,
    low: int,
    batched: bool,
    count: int = 1,
    key: str = "",
    parts: int = 1,
) -> Outcome:
    """Return what the client makes of what is sent back of ``count`` items."""
    key = key or uuid.uuid4().hex
    brought = remote.work(function, data, key, low, low + count, batched, parts)
    return Outcome.of(*pickle.loads(pickle.dumps(brought)))


def chunk(*items: object) -> list[bytes]:
    """Return items as they are sent to a worker with one thread."""
    return [pickle.dumps(list(items))]


def naps(item: int) -> int:
    """Sleep longer for some."""
    time.sleep(0.02 if item == 0 else 0.001)
    return item * item


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

    with ThreadPoolExecutor(1) as pool, mock.patch.object(remote, "_function", return_value=waits):
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
