"""What is sent, and what comes back; Dask brings what futures hold from worker to worker."""

from __future__ import annotations

import logging
import pickle
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import cloudpickle
import numpy as np

from makespan.core.errors import InputError
from makespan.execute.dealing.engine import Failure, Outcome
from makespan.execute.dealing.items import Files, Items, footprint
from makespan.execute.remote import Call, FailureText, FileChunk, Input, Pickled, replaced

MODULE_OF_FUTURES = b"distributed.client"
log = logging.getLogger("makespan")

SLICED = list, tuple, range, str, bytes, bytearray

Futures = dict[Any, Any]  # by their keys


def pickled(value: Any, place: str) -> bytes:
    """Return a value as it is sent; what this session has defined goes with it."""
    try:
        data: bytes = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
        if b"__main__" not in data:
            return data
    except Exception:
        log.debug("pickle can't hold %s; cloudpickle may", place)
    try:
        data = cloudpickle.dumps(value)
    except Exception as error:
        raise InputError(f"{place}: can't be pickled: {error}") from error
    return data


class Function(NamedTuple):
    """A function as it is sent, and the futures among its keywords."""

    sent: bytes
    futures: Futures


def packed(value: Any, place: str) -> tuple[bytes, Futures]:
    """Return a value as it is sent, and the futures in it, which are left out.

    Futures are found where ``client.map`` finds them: in lists, tuples, sets and values of
    dictionaries. Only what Python has pickled with one is searched.
    """
    data = pickled(value, place)
    futures: Futures = {}
    if MODULE_OF_FUTURES in data:
        from distributed import Future

        def left_out(one: Any) -> Any:
            if not isinstance(one, Future):
                return one
            futures[one.key] = one
            return Input(one.key)

        without = replaced(value, left_out)
        if futures:
            data = pickled(without, place)
    return data, futures


def function_as_sent(call: Callable[..., Any] | Call) -> Function:
    """Return a function as it is sent."""
    if not isinstance(call, Call):
        call = Call(call, {})
    if not callable(call.function):
        raise InputError(f"function: {call.function!r} can't be called")
    return Function(*packed(call, "function"))


def payload(items: Items, low: int, high: int) -> tuple[Any, int, Futures]:
    """Return what is sent of the items from ``low`` up to ``high``, its bytes, and futures.

    That is an array, or a list of one pickle of all: Dask would serialise a list item by item.
    The futures among the items are not sent.
    """
    data = items.data
    if isinstance(data, np.ndarray) and not data.dtype.hasobject:
        rows = data[low:high]
        return rows, max(1, rows.nbytes), {}
    try:
        sent, futures = packed(_part(data, low, high), "data")
    except InputError:
        refuse_unpicklable(items, low, high)
        raise
    return [sent], len(sent), futures


def unit_bytes(items: Items) -> float:
    """Return the bytes of a unit of load, as the first item has them."""
    return payload(items, 0, 1)[1] / items.load_of(0, 1)


def unit_footprint(items: Items) -> float:
    """Return the bytes of a unit of load that is not pickled, as the first item has them."""
    return footprint([items.data[0]]) / items.load_of(0, 1)


def _part(data: Any, low: int, high: int) -> Any:
    if isinstance(data, Files):
        paths = data.paths[low:high]
        return FileChunk(tuple(path.name for path in paths), tuple(map(_content, paths)))
    rows = part_of(data, low, high)
    if isinstance(data, np.ndarray):
        futures = any(type(row).__module__ == "distributed.client" for row in rows)
        return list(rows) if futures else rows
    return rows


def part_of(data: Any, low: int, high: int) -> Any:
    """Return items as they are given to the function: rows of an array, or a list."""
    if isinstance(data, np.ndarray):
        return data[low:high]
    return list(data[low:high]) if isinstance(data, SLICED) else [data[n] for n in range(low, high)]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"data: {path} can't be read: {error.strerror}") from error


def refuse_unpicklable(items: Items, low: int, high: int, place: str = "data") -> None:
    """Name the first of these items that can't be pickled."""
    for index in range(low, high):
        pickled(items.data[index], f"{place}[{index}]")


def outcome_of(
    rows: tuple[tuple[int, int], ...],
    values: Any,
    failures: tuple[FailureText, ...],
    start: float,
    end: float,
    seconds: bytes = b"",
) -> Outcome:
    """Read what :func:`makespan.execute.remote.work` returned."""
    found = [Failure(first, last, _error(data), text) for first, last, data, text in failures]
    if isinstance(values, Pickled):
        values, more = _unpickled(values, [place for row in rows for place in range(*row)])
        found = sorted(found + more, key=lambda failure: failure.first)
    return Outcome(rows, values, tuple(found), start, end, seconds)


def _error(data: bytes) -> BaseException:
    try:
        error: BaseException = pickle.loads(data)
    except Exception as here:  # of a class that only the worker knows
        return RuntimeError(f"an error of the worker that can't be unpickled here: {here}")
    return error


def _unpickled(values: Pickled, places: Sequence[int]) -> tuple[Any, list[Failure]]:
    """Return results, None for each that can't be unpickled here, and what that failed by."""
    found: list[Any] = []
    failures = []
    ends = [(places[0], places[-1])] if values.whole else [(place, place) for place in places]
    for (first, last), data, buffers in zip(ends, values.data, values.buffers, strict=True):
        try:
            found.append(pickle.loads(data, buffers=buffers))
        except Exception as error:
            text = "".join(traceback.format_exception(error))
            refused = TypeError(f"the result can't be unpickled here: {error}")
            failures.append(Failure(first, last, refused, text))
            found.append([None] * len(places) if values.whole else None)
    return (found[0] if values.whole else found), failures
