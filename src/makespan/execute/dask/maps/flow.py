"""A job that runs in the background, whose results are taken as they come."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any

from makespan.core.errors import ExecutionError
from makespan.execute.dask.cluster.client import on_loop
from makespan.execute.dask.execution import Execution, checked
from makespan.execute.dask.maps.carry_out import carry_out
from makespan.execute.dask.maps.job import Job
from makespan.execute.outcome import Failure


class Background:
    """A job that runs in a thread, until it is done or stopped.

    Parameters
    ----------
    client, job
        What runs, and where. Where the job keeps its results is its own affair.
    ended
        Called in the thread, at the end.
    """

    def __init__(self, client: Any, job: Job, ended: Callable[[], object]) -> None:
        self._loop = client.loop.asyncio_loop
        self._came: list[Execution | BaseException] = []
        self._tasks: list[asyncio.Task[Any]] = []
        self._stopped = Event()
        arguments = client, job, ended, self._came, self._tasks, self._stopped
        self._thread = Thread(target=_run, args=arguments, daemon=True)
        self._thread.start()

    def call_soon(self, function: Callable[[], object]) -> None:
        """Call a function on the client's event loop, unless the client was closed."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function)

    def stop(self) -> None:
        """Withdraw what is not done, and wait for the end."""
        self._stopped.set()
        for task in self._tasks:
            self.call_soon(task.cancel)
        self.wait()

    def wait(self) -> None:
        """Wait for the end."""
        self._thread.join()

    def execution(self) -> Execution:
        """Return what came of it, or raise what ended it."""
        self.wait()
        if isinstance(self._came[0], BaseException):
            raise self._came[0]
        return self._came[0]


class Raised:
    """What items raised, whose failures are noted before their results are kept."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        self._failures, self._seen = failures, 0
        self._of: dict[int, Failure] = {}

    def by(self, item: int) -> BaseException | None:
        """Return what is to be raised for an item, with the worker's traceback as a note."""
        while self._seen < len(self._failures):
            one = self._failures[self._seen]
            self._of |= dict.fromkeys(range(one.first, one.last + 1), one)
            self._seen += 1
        found = self._of.get(item)
        if found is None:
            return None
        if isinstance(found.error, ExecutionError):
            return BrokenExecutor(f"several workers died on an item: {found.error}")
        found.error.add_note(found.traceback)
        return found.error


def _run(
    client: Any,
    job: Job,
    ended: Callable[[], object],
    came: list[Execution | BaseException],
    tasks: list[asyncio.Task[Any]],
    stopped: Event,
) -> None:
    async def recorded() -> Execution:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        if stopped.is_set():  # before there was a task to cancel
            task.cancel()
        return await carry_out(client, job)

    try:
        came.append(on_loop(client, recorded))
    except BaseException as error:
        came.append(error)
    ended()


def in_order(
    client: Any,
    job: Job,
    held: ExitStack,
    *,
    keep_going: bool,
    raising: bool = False,
    seconds: float | None = None,
) -> tuple[Iterator[Any], Background]:
    """Begin a job; return its results in the order of the data as they come, and itself.

    Parameters
    ----------
    held
        What is closed at the end.
    raising
        Whether what an item raised is raised in its place.
    seconds
        After which ``TimeoutError`` is raised where a result is not there, and the job stopped.
    """
    ready: SimpleQueue[tuple[int, Any] | None] = SimpleQueue()
    raised = Raised(job.failures)
    until = None if seconds is None else time.monotonic() + seconds
    taken = 0
    job = replace(
        job,
        keep=lambda first, values: ready.put((first, values)),
        taken=lambda: taken,
    )

    def following() -> tuple[int, Any] | None:
        try:
            return ready.get(timeout=None if until is None else max(0.0, until - time.monotonic()))
        except Empty:
            raise TimeoutError(f"no result within {seconds:g} s") from None

    def results() -> Iterator[Any]:
        nonlocal taken
        waiting: dict[int, Any] = {}
        with held:
            try:
                yield None  # begun, so that whoever gives it up ends it
                while (found := following()) is not None:
                    waiting[found[0]] = found[1]
                    while taken in waiting:
                        values = waiting.pop(taken)
                        for item, value in enumerate(values, start=taken):
                            if raising and (error := raised.by(item)) is not None:
                                raise error
                            yield value
                        taken += len(values)
                        running.call_soon(job.changed.set)
            finally:
                running.stop()
        checked(running.execution(), keep_going=keep_going)

    running = Background(client, job, lambda: ready.put(None))
    found = results()
    next(found)
    return found, running
