"""The interface of ``concurrent.futures``, beside Dask's own executor."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, as_completed
from typing import Any

import pytest

from makespan import InputError
from makespan.execute import dask
from tests.execute import functions


@pytest.fixture
def ours(client: Any) -> Iterator[Any]:
    with dask.Executor(client) as one:
        yield one
    gc.collect()  # futures of Dask's are held in circles


@pytest.fixture
def theirs(local: Any) -> Iterator[Any]:
    """Dask's, whose futures stay where the test has seen what they raised."""
    from distributed import Client

    with Client(local, set_as_default=False) as own, own.get_executor(pure=False) as one:
        yield one


@pytest.fixture(params=["ours", "theirs"])
def executor(request: pytest.FixtureRequest) -> Any:
    """Both, which do the same."""
    return request.getfixturevalue(request.param)


def test_it_does_what_dask_s_does(executor: Any) -> None:
    """Calls, maps over several iterables, what raises in its place, and time limits."""
    assert executor.submit(pow, 2, exp=5).result() == 32
    assert list(executor.map(pow, [2, 3, 4], [5, 2])) == [32, 9]
    assert list(executor.map(functions.squared, range(300))) == [item**2 for item in range(300)]
    assert list(executor.map(functions.squared, [])) == []
    found = executor.map(functions.fails_on_seven, [5, 6, 7, 8])
    assert [next(found), next(found)] == [5, 6]
    with pytest.raises(ValueError, match="seven is not allowed"):
        next(found)
    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        list(executor.map(time.sleep, [1.0] * 20, timeout=0.8))  # Dask fails where it looks late
    assert time.monotonic() - begun < 5.0
    futures = [executor.submit(functions.squared, item) for item in range(5)]
    assert {future.result() for future in as_completed(futures)} == {0, 1, 4, 9, 16}


def test_after_shutdown(executor: Any) -> None:
    """Nothing begins; what had begun is done, and can be taken."""
    found = executor.map(functions.slow_square, range(30))
    executor.shutdown()
    assert list(found) == [item**2 for item in range(30)]
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(functions.squared, 1)


def test_what_raised_says_where(client: Any) -> None:
    """The worker's traceback is a note of the error."""
    with dask.Executor(client) as executor, pytest.raises(ValueError, match="seven") as caught:
        list(executor.map(functions.fails_on_seven, [7]))
    assert "in fails_on_seven" in "".join(caught.value.__notes__)


def test_what_has_begun_can_be_withdrawn(client: Any) -> None:
    """By dropping the iterator, or by shutting down."""
    begun = time.monotonic()
    executor = dask.Executor(client)
    found = executor.map(time.sleep, [0.1] * 500)
    next(found)
    del found
    other = executor.map(time.sleep, [0.1] * 500)
    executor.shutdown(cancel_futures=True)
    with pytest.raises(CancelledError):
        list(other)
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.map(functions.squared, [1])
    assert time.monotonic() - begun < 15.0


def test_a_shutdown_waits_for_calls_and_not_for_cancelled_ones(client: Any) -> None:
    """A call that is cancelled at once never ends at Dask."""
    executor = dask.Executor(client)
    cancelled, begun = (executor.submit(time.sleep, 0.3) for _ in range(2))
    assert cancelled.cancel()
    executor.shutdown()
    assert begun.done()
    gc.collect()


@pytest.mark.thorough
def test_it_learns(client: Any) -> None:
    """What is mapped next, in whichever way, begins with larger chunks."""
    dask.forget(client)
    with dask.Executor(client) as executor:
        assert list(executor.map(functions.slept_each, iter(range(500)))) == list(range(500))
    again = dask.map(functions.slept_each, list(range(500)), client, progress=False)
    assert max(again.schedule.amount[:3]) > 1.0  # of a worker that had its share


def test_a_client_is_needed() -> None:
    """Anything else is refused."""
    with pytest.raises(InputError, match="is not a"):
        dask.Executor(3)
