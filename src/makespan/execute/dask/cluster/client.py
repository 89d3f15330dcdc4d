"""A client of a Dask cluster, and what is done with it from outside its event loop."""

from __future__ import annotations

import asyncio
import logging
import pickle
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future, wait
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from makespan.core.errors import ExecutionError, InputError
from makespan.core.system.startup import optional

LOOK_AT_LOOP = 1.0  # seconds between looks whether the event loop still runs
LONGEST_CLEAN_UP = 20.0  # seconds that an interrupted run may take to tidy up

Value = TypeVar("Value")
log = logging.getLogger("makespan")


def checked_client(client: Any) -> Any:
    """Return the client if it can be used.

    Raises
    ------
    InputError
        If it is not a synchronous ``distributed.Client``, or closed.
    """
    package = optional("distributed")
    if not isinstance(client, package.Client):
        raise InputError(f"client: {client!r} is not a distributed.Client")
    if client.asynchronous:
        raise InputError("client: is asynchronous; a Client made outside an event loop is needed")
    if client.status != "running":
        raise InputError(f"client: is {client.status}, not running")
    return client


def pickled(value: Any, place: str) -> bytes:
    """Return a value as it is sent; what this session has defined goes with it.

    Raises
    ------
    InputError
        If it can't be pickled; the message starts with its ``place``.
    """
    import cloudpickle  # type: ignore[import-untyped]

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


def trouble_of(client: Any) -> str:
    """Say why a client can't be used any more; nothing where it can."""
    if client.status == "running":
        return ""
    if client.status in ("connecting", "newly-created"):
        return f"the scheduler at {client.scheduler.address} is gone"
    return "the client was closed"


def on_loop(client: Any, work: Callable[[], Coroutine[Any, Any, Value]]) -> Value:
    """Run a coroutine on the client's event loop; Ctrl-C cancels it and waits until it is tidy.

    Raises
    ------
    ExecutionError
        If the client is closed, and its event loop with it.
    """
    loop = client.loop.asyncio_loop
    tasks: list[asyncio.Task[Any]] = []

    async def begin() -> tuple[Value | None, BaseException | None]:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        try:
            return await work(), None
        except BaseException as error:  # returned: a loop that ends would print it
            return None, error

    async def tidy() -> None:
        for task in tasks:
            task.cancel()
            await asyncio.wait({task}, timeout=LONGEST_CLEAN_UP)

    def submitted(coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, loop)
        except RuntimeError as error:  # the loop is closed
            coroutine.close()
            raise ExecutionError(trouble_of(client) or str(error)) from error

    try:
        found = submitted(begin())
        while not wait([found], timeout=LOOK_AT_LOOP).done:
            if loop.is_closed():
                raise ExecutionError(trouble_of(client))
        value, error = found.result()
        if error is not None:
            raise error
        return cast("Value", value)
    except CancelledError as error:  # with the loop, before the work could look into it
        raise ExecutionError(trouble_of(client) or str(error)) from error
    except BaseException:
        if not (tasks and tasks[0].done()) and not loop.is_closed():
            submitted(tidy()).result(2 * LONGEST_CLEAN_UP)
        raise


@contextmanager
def client_or_local(client: Any | None) -> Iterator[Any]:
    """Give the client, or one of a cluster on this machine that ends with the block."""
    if client is not None:
        yield checked_client(client)
        return
    import os

    package = optional("distributed")
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with (
        package.LocalCluster(
            n_workers=count or 1,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        package.Client(cluster) as own,
    ):
        yield own
