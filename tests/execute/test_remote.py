"""A function meets a chunk."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from makespan.execute import remote
from makespan.execute.dask.cluster.items import Items
from makespan.execute.outcome import Outcome
from makespan.execute.remote import FileChunk
from tests.execute import functions


def sent(function: Any) -> bytes:
    return pickle.dumps(remote.Call(function, {}))


def work(*arguments: Any) -> Outcome:
    """Return what the client makes of what is sent back."""
    return Outcome.of(*pickle.loads(pickle.dumps(remote.work(*arguments))))


def chunk(*items: object) -> list[bytes]:
    """Return items as they are sent to a worker with one thread."""
    return [pickle.dumps(list(items))]


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_parts_make_up_the_chunk(parts: int) -> None:
    """The parts of a chunk are disjoint, in order, and miss nothing."""
    rows, *_ = Items([0, 1, 2, 3, 4]).payload(0, 5, parts)
    found = [work(sent(functions.squared), rows, 0, False, part, parts) for part in range(parts)]
    array = [
        work(sent(functions.squared), np.arange(5), 0, False, part, parts) for part in range(parts)
    ]
    assert [value for outcome in array for value in outcome.values] == [0, 1, 4, 9, 16]
    assert [value for outcome in found for value in outcome.values] == [0, 1, 4, 9, 16]
    assert all(outcome.start <= outcome.end for outcome in found)


def test_a_failing_item_is_named_and_the_rest_computed() -> None:
    """The failure knows its place in the data and the worker's traceback."""
    outcome = work(sent(functions.fails_on_seven), chunk(6, 7, 8), 106, False)
    assert outcome.values == [6, None, 8]
    (failure,) = outcome.failures
    assert (failure.first, failure.last) == (107, 107)
    assert isinstance(failure.error, ValueError)
    assert "in fails_on_seven" in failure.traceback
    assert str(failure) == "item 107: ValueError: seven is not allowed"


def test_a_failing_batch_fails_as_a_whole() -> None:
    """All items of the batch are named."""
    outcome = work(sent(functions.fails_on_large), chunk(89, 90, 91), 89, True)
    assert outcome.values == [None] * 3
    assert str(outcome.failures[0]) == "items 89 to 91: ValueError: too large"


def test_a_batch_gives_one_result_an_item() -> None:
    """Anything else is a failure that says so."""
    outcome = work(sent(functions.too_few), chunk(1, 2), 0, True)
    assert "returned 1 results for 2 items" in str(outcome.failures[0])
    outcome = work(sent(functions.squared), np.array([3]), 0, True)
    assert outcome.values.tolist() == [9]
    outcome = work(sent(sum), chunk(1, 2), 0, True)
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
    outcome = work(sent(functions.text_of), files, 0, False)
    assert outcome.values == [("a.txt", "one"), ("a.txt", "two")]
    kept = work(sent(Path), files, 0, False).values
    assert not any(path.exists() for path in kept)


def test_what_cannot_be_pickled_fails_alone() -> None:
    """It is named; arrays in other results are left out of the pickles, not copied."""
    table = np.arange(1000)
    given = [(1, table), threading.Lock(), {2}]
    failures: list[Any] = []
    leaving = remote._leaving(given, 5, failures)
    assert np.shares_memory(np.frombuffer(leaving.buffers[0][0], dtype=table.dtype), table)
    assert leaving.__sizeof__() >= table.nbytes
    outcome = Outcome.of(leaving, tuple(failures), 0.0, 1.0)
    assert outcome.values[1:] == [None, {2}]
    (failure,) = outcome.failures
    assert str(failure).startswith("item 6: TypeError: the result, a lock, can't be pickled")
    assert remote._leaving([1, "a", table], 0, failures)[2] is table


def test_what_cannot_be_unpickled_fails_alone() -> None:
    """Here, where the worker could pickle it."""
    leaving = remote._leaving([(1,), ("two",)], 3, [])
    leaving.data[1] = b"nothing"
    outcome = Outcome.of(leaving, (), 0.0, 1.0)
    assert outcome.values == [(1,), None]
    assert "item 4: TypeError: the result can't be unpickled here" in str(outcome.failures[0])
