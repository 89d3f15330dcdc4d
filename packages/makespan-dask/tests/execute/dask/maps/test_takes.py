"""What ``dask.map`` takes, held against ``client.map`` row by row of the page that says it."""

from __future__ import annotations

import array
import asyncio
import collections
import gc
import queue
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

from makespan import InputError
from makespan.execute import dask
from makespan.execute.dask import ItemsFailed
from tests.execute import functions
from tests.sources import ROOT

PAGE = ROOT / "docs" / "dask_takes.md"
Mapped = Callable[..., list[Any]]
Pair = collections.namedtuple("Pair", "first second")


@dataclass
class Box:
    """An object that holds something."""

    inside: Any


class Counted(collections.abc.Sequence[int]):
    """A sequence that gives single items only."""

    def __len__(self) -> int:
        return 5

    def __getitem__(self, index: Any) -> int:
        if not isinstance(index, int):
            raise TypeError("no slices")
        if not 0 <= index < 5:
            raise IndexError(index)
        return index * index


class Awaitable:
    """A callable that is asynchronous, which Dask can't see."""

    async def __call__(self, item: Any) -> Any:
        return item


class Unpicklable(Exception):
    """An error that can't travel."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.lock = threading.Lock()


class Scaled:
    """A method, and a class that is called."""

    def __init__(self, by: int = 2) -> None:
        self.by = by

    def __repr__(self) -> str:
        return f"Scaled({self.by})"

    def times(self, item: int) -> int:
        return self.by * item


def seen(*items: Any, **named: Any) -> str:
    """Return what a function gets, as text; of futures that they are."""
    text = repr([(type(item).__name__, item) for item in (*items, *sorted(named.items()))])
    return re.sub(r"<Future: [^>]*>|Delayed\([^)]*\)", "lazy", re.sub(r" at 0x\w+", "", text))


async def later(item: int) -> int:
    from distributed import get_worker

    await asyncio.sleep(0.001)
    return item if get_worker().loop.asyncio_loop is asyncio.get_running_loop() else -1


def unseen_coroutine(item: int) -> Any:
    return later(item)


def divided(item: int) -> float:
    return 1 / item


def divided_by(item: int, by: int) -> float:
    return item / by


def with_client(item: int) -> tuple[int, bool, str]:
    from distributed import get_client, get_worker

    return item, get_worker().name is not None, get_client().scheduler.address


def generated(item: int) -> Iterator[int]:
    return iter(range(item)) if item is None else (each for each in range(item))


def locked_up(_item: int) -> Any:
    return threading.Lock()


def raises_unpicklable(item: int) -> None:
    raise Unpicklable(item)


def various(item: int) -> Any:
    import pandas as pd

    return [None, ValueError("a value"), Scaled(3), pd.DataFrame({"a": [item]})][item % 4]


def ranked(item: int, priority: int = 0) -> int:
    return item + priority


FLAKY: collections.Counter[int] = collections.Counter()


def flaky(item: int) -> int:
    FLAKY[item] += 1
    if FLAKY[item] % 2:
        raise ValueError("the first time")
    return item


def all_of(*calls: Callable[[Mapped], list[Any]]) -> Callable[[Mapped, Any], list[Any]]:
    """Return a case of several calls."""
    return lambda mapped, _client: [mapped_call(mapped) for mapped_call in calls]


def items(*data: Any) -> Callable[[Mapped, Any], list[Any]]:
    """Return a case of several kinds of data."""
    return lambda mapped, _client: [mapped(seen, one) for one in data]


def frames(kind: str) -> Callable[[Mapped, Any], list[Any]]:
    """Return a case of data that pandas or polars holds."""

    def case(mapped: Mapped, _client: Any) -> list[Any]:
        pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
        data = {
            "pandas": [pandas.Series([1, 2], index=[1, 0]), pandas.Index(["a", "b"])],
            "frame": [pandas.DataFrame({"a": [1, 2], "b": [3, 4]})],
            "polars": [polars.Series([1, 2]), polars.Series(["a", None])],
        }
        return [mapped(seen, one) for one in data[kind]]

    return case


def futures(make: Callable[[Any], list[Any]]) -> Callable[[Mapped, Any], list[Any]]:
    """Return a case of items that are made from a future."""

    def case(mapped: Mapped, client: Any) -> list[Any]:
        return mapped(seen, make(client.submit(pow, 3, 4, pure=False)))

    return case


def in_keywords(mapped: Mapped, client: Any) -> list[Any]:
    one, table = client.submit(pow, 3, 4, pure=False), client.scatter(np.arange(9), hash=False)
    return [
        mapped(seen, [0, 1], named=one),
        mapped(seen, [0, 1], named={"a": [one, (one, {"b": one})]}, other=table),
        mapped(seen, [one, 1], [2, [one]], named=[one]),
        mapped(seen, [0], named=Box(one)),
    ]


def in_objects(mapped: Mapped, client: Any) -> list[Any]:
    one = client.submit(pow, 3, 4, pure=False)
    held = {one: 1}, frozenset([one]), Box(one), collections.deque([one]), partial(pow, one)
    return mapped(seen, list(held)) + mapped(seen, [0], named=Box(one))


def of_another_client(mapped: Mapped, client: Any) -> list[Any]:
    from distributed import Client

    with Client(client.scheduler.address, set_as_default=False) as other:
        future = other.submit(pow, 2, 5, pure=False)
        future.result()
        return mapped(seen, [future, [future]])


def raised_in(name: str) -> Callable[[Mapped, Any], list[Any]]:
    """Return a case of a future that failed, as an item or a keyword."""

    def case(mapped: Mapped, client: Any) -> list[Any]:
        future = client.submit(divided, 0, pure=False)
        return mapped(seen, [future]) if name == "item" else mapped(seen, [1], named=[future])

    return case


def cancelled(mapped: Mapped, client: Any) -> list[Any]:
    future = client.submit(pow, 2, 5, pure=False)
    future.result()
    future.cancel()
    return mapped(seen, [future])


def delayed(mapped: Mapped, _client: Any) -> list[Any]:
    import dask as package
    import dask.array

    lazy = package.delayed(pow, pure=True)(2, 3, dask_key_name="eight")
    return mapped(seen, [lazy, [lazy], dask.array.ones(3, chunks=3)])


def on_workers(mapped: Mapped, _client: Any) -> list[Any]:
    return [mapped(functions.squared, [3], workers=which) for which in (1, 0, [0, 2])]


def by_call(name: str, value: Any, function: Any = seen) -> Callable[[Mapped, Any], list[Any]]:
    """Return a case of a parameter."""
    return lambda mapped, _client: mapped(function, [1, 2], **{name: value})


offset = 3
CASES: dict[str, Callable[[Mapped, Any], list[Any]]] = {
    "list, tuple, `range`": items([3, "a", 2.5], (1, (2, 3)), range(4)),
    "`deque`, `array.array`, another sequence": items(
        collections.deque([1, 2]), array.array("d", [1, 2]), Counted(), memoryview(b"ab")
    ),
    "string": items("abc"),
    "`bytes`, `bytearray`": items(b"abc", bytearray(b"abc")),
    "set, `frozenset`": items({1, 2, 3}, frozenset({7, 8})),
    "dictionary": items({"a": 1, "b": 2}, collections.Counter("aab")),
    "`keys()`, `values()`, `items()` of a dictionary": items(
        {1: 2}.keys(), {1: 2}.values(), {1: 2, 3: 4}.items()
    ),
    "NumPy array": items(
        np.arange(3),
        np.ones((3, 2)),
        np.array(["2020-01-01"], dtype="M8[D]"),
        np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
        np.ones((2, 2, 2), dtype=np.float32),
    ),
    "NumPy array of objects": items(
        np.array([1, "a", None, {2: 3}], dtype=object), np.array([[1, "a"]], dtype=object)
    ),
    "pandas `Series`, `Index`": frames("pandas"),
    "pandas `DataFrame`": frames("frame"),
    "polars `Series`": frames("polars"),
    "unhashable items, `None`": items([{1: [2]}, None, [3], None, float("nan")]),
    "no items": items([], "", {}, np.ones(0)),
    "several sequences": all_of(
        lambda mapped: mapped(seen, [1, 2, 3], "ab"),
        lambda mapped: mapped(seen, {1: 2}, np.ones((2, 2)), {5, 6}),
    ),
    "iterator, generator": lambda mapped, _client: mapped(seen, (each for each in range(9))),
    "number, `None`, array without a dimension": items(7, None, np.array(3.0)),
    "`queue.Queue`": items(queue.Queue()),
    "item that can't be pickled": items([1, threading.Lock()]),
    "future as an item": futures(lambda one: [one, 1, one]),
    "future in a list, tuple, named tuple, set, value of a dictionary, at any depth": futures(
        lambda one: [[one], (one, 1), Pair(one, 2), {one}, {"a": [(one, {"b": one})]}]
    ),
    "future as a keyword, or in a keyword's containers": in_keywords,
    "future of another client of the same cluster": of_another_client,
    "future in any other object: key of a dictionary, `frozenset`, dataclass, `deque`,"
    " `functools.partial`": in_objects,
    "future whose task raised, as an item": raised_in("item"),
    "future whose task raised, as a keyword": raised_in("keyword"),
    "future that was cancelled": cancelled,
    "`dask.delayed`, Dask's collections": delayed,
    "function, lambda, closure, `functools.partial`, builtin, method, class, ufunc": all_of(
        *(
            lambda mapped, function=function: mapped(function, range(4))
            for function in (
                functions.squared,
                lambda item: item + offset,
                partial(divided_by, by=3),
                abs,
                Scaled(5).times,
                np.sqrt,
            )
        ),
        lambda mapped: [repr(one) for one in mapped(Scaled, range(3))],
    ),
    "asynchronous function": all_of(
        lambda mapped: mapped(later, range(5)),
        lambda mapped: mapped(partial(later), [1], retries=1),
    ),
    "function that returns a coroutine, and is not asynchronous itself": by_call(
        "retries", None, unseen_coroutine
    ),
    "function that uses `get_worker()`, `get_client()`": lambda mapped, _client: mapped(
        with_client, range(3)
    ),
    "function that raises": lambda mapped, _client: mapped(divided, [0, 1]),
    "function that returns `None`, an exception, a lambda, a `DataFrame`": (
        lambda mapped, _client: [seen(one) for one in mapped(various, range(8))]
    ),
    "function that returns what can't be pickled: a generator, a lock": (
        lambda mapped, _client: mapped(generated, [2])
    ),
    "function that raises what can't be pickled": lambda mapped, _client: mapped(
        raises_unpicklable, [1]
    ),
    "what can't be called": lambda mapped, _client: mapped(3, [1]),
    "`workers`": on_workers,
    "`resources`": by_call("resources", {}),
    "`retries`": by_call("retries", 1, flaky),
    "`priority`": by_call("priority", -3.5),
    "`batch_size`": by_call("batch_size", 1),
    "`pure=False`": by_call("pure", False),
    "`pure=True`": by_call("pure", True),
    "`key=`": by_call("key", "squares", functions.squared),
    "`actor=True`, `actors=True`": by_call("actors", True),
    "`allow_other_workers=True`": by_call("allow_other_workers", True),
    "`fifo_timeout=`": by_call("fifo_timeout", "1s"),
    "`priority=`, `key=`, ... where the function has such a parameter": by_call(
        "priority", 5, ranked
    ),
    "keyword that the function lacks": by_call("offset", 3, functions.squared),
}
WORKS = {
    "iterator, generator": [seen(each) for each in range(9)],
    "`priority=`, `key=`, ... where the function has such a parameter": [6, 7],
}


def rows() -> dict[str, str]:
    """Return what the page says is done here, by the first column of its tables."""
    cells = [
        [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        for line in PAGE.read_text("utf-8").splitlines()
        if line.startswith("| ") and not line.endswith("| here |")
    ]
    return {first: last for first, _, last in cells}


def outcome(mapped: Mapped, case: Callable[[Mapped, Any], list[Any]], client: Any) -> Any:
    """Return the results of a case, or the error that it ends in."""
    try:
        return case(mapped, client)
    except ItemsFailed as error:
        return bare(error.failures[0].error if error.failures[0].first == 0 else error)
    except Exception as error:
        return bare(error)


def bare(error: BaseException) -> BaseException:
    """Return an error that holds no frames, and so no futures."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def test_every_row_is_tested() -> None:
    """And every case is on the page."""
    assert list(rows()) == list(CASES)


@pytest.mark.parametrize("row", CASES)
@pytest.mark.filterwarnings("ignore")
def test_the_page_is_true(row: str, client: Any) -> None:
    """What ``client.map`` gives, ``dask.map`` gives, or it says by name that it does not."""

    def theirs(function: Any, *data: Any, **named: Any) -> list[Any]:
        options = {} if {"pure", "actors"} & {*named} else {"pure": False}
        futures = client.map(function, *data, **options | named)
        try:
            return client.gather(futures)  # type: ignore[no-any-return]
        finally:
            for future in futures:
                future.release()

    def ours(function: Any, *data: Any, **named: Any) -> list[Any]:
        found = dask.map(function, *data, client, progress=False, **named)
        return found.results  # type: ignore[no-any-return]

    said, case = rows()[row], CASES[row]
    mine = outcome(ours, case, client)
    alone = said.startswith(("works", "refused"))
    expected = None if alone else outcome(theirs, case, client)
    if said == "the same":
        assert seen(mine) == seen(expected)
        assert not isinstance(mine, Exception)
    elif said == "the same error":
        assert isinstance(expected, Exception)
        assert type(mine) is type(expected) or isinstance(mine, CancelledError)
    elif said == "an error":
        assert isinstance(mine, RuntimeError)
        assert isinstance(expected, Exception)
    elif said.startswith("works"):
        assert mine == WORKS[row]
    elif said.startswith("refused"):
        name = re.match(r"`(\w+)=", row)
        place = {"what can't be called": "function"}.get(row, name[1] if name else "data")
        assert isinstance(mine, InputError)
        assert str(mine).startswith(place)
    else:
        assert said == "`TypeError` at once"
        assert type(mine) is type(expected) is TypeError
    gc.collect()
