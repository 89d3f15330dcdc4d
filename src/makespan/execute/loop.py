"""Event loops that run in a thread, and what is done on them from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future, wait
from threading import Lock, Thread
from typing import Any, TypeVar, cast

from makespan.core.errors import ExecutionError

LOOK_AT_LOOP = 1.0  # seconds between looks whether the event loop still runs
LONGEST_CLEAN_UP = 20.0  # seconds that an interrupted run may take to tidy up

Value = TypeVar("Value")

_OWN: list[asyncio.AbstractEventLoop] = []
_LOCK = Lock()


def own_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of this process that runs in a thread of ours."""
    with _LOCK:
        if not _OWN:
            loop = asyncio.new_event_loop()
            Thread(target=loop.run_forever, name="makespan", daemon=True).start()
            _OWN.append(loop)
    return _OWN[0]


def on_loop(
    loop: asyncio.AbstractEventLoop,
    trouble: Callable[[], str],
    work: Callable[[], Coroutine[Any, Any, Value]],
) -> Value:
    """Run a coroutine on an event loop, tidily ended by Ctrl-C; ``trouble`` says why it can't."""
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
            raise ExecutionError(trouble() or str(error)) from error

    try:
        found = submitted(begin())
        while not wait([found], timeout=LOOK_AT_LOOP).done:
            if loop.is_closed():
                raise ExecutionError(trouble())
        value, error = found.result()
        if error is not None:
            raise error
        return cast("Value", value)
    except CancelledError as error:  # with the loop, before the work could look into it
        raise ExecutionError(trouble() or str(error)) from error
    except BaseException:
        if not (tasks and tasks[0].done()) and not loop.is_closed():
            submitted(tidy()).result(2 * LONGEST_CLEAN_UP)
        raise
