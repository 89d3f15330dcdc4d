"""Futures of Dask's among what is sent: Dask brings what they hold from worker to worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from makespan.core.errors import InputError
from makespan.execute.dask.cluster.client import pickled
from makespan.execute.remote import Call, Input, replaced

MODULE_OF_FUTURES = b"distributed.client"

Futures = dict[Any, Any]
"""By their keys."""


class Function(NamedTuple):
    """A function as it is sent, and the futures among its keywords."""

    sent: bytes
    futures: Futures


def packed(value: Any, place: str) -> tuple[bytes, Futures]:
    """Return a value as it is sent, and the futures in it, which are left out.

    Futures are found where ``client.map`` finds them: in lists, tuples, sets and values of
    dictionaries. Only what Python has pickled with one is searched.

    Raises
    ------
    InputError
        If it can't be pickled; the message starts with its ``place``.
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
    """Return a function as it is sent.

    Raises
    ------
    InputError
        If it can't be called, or not be pickled.
    """
    if not isinstance(call, Call):
        call = Call(call, {})
    if not callable(call.function):
        raise InputError(f"function: {call.function!r} can't be called")
    return Function(*packed(call, "function"))
