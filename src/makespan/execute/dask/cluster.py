"""The workers of a Dask cluster: who is there, who leaves, who joins."""

from __future__ import annotations

import asyncio
import logging
import pickle
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, TypeVar

from makespan.core.errors import ExecutionError, InputError, MissingExtra

LOOK_EVERY = 0.25  # seconds between looks at who is there
LONGEST_CLEAN_UP = 20.0  # seconds that an interrupted run may take to tidy up

Value = TypeVar("Value")
log = logging.getLogger("makespan")


class WorkerLost(Exception):
    """A worker left while something was under way on it."""


@dataclass(slots=True)
class Member:
    """A worker: its name, where it is, how many threads it has, and whether it has gone."""

    name: str
    address: str
    threads: int
    gone: asyncio.Event = field(default_factory=asyncio.Event)


def distributed() -> Any:
    """Return the package ``distributed``.

    Raises
    ------
    MissingExtra
        If it is not installed.
    """
    try:
        import distributed as package
    except ImportError as error:
        raise MissingExtra(
            "distributed is not installed; 'pip install makespan[dask]' brings it"
        ) from error
    return package


def checked_client(client: Any) -> Any:
    """Return the client if it can be used.

    Raises
    ------
    InputError
        If it is no synchronous ``distributed.Client``, or closed.
    """
    package = distributed()
    if not isinstance(client, package.Client):
        raise InputError(f"client: {client!r} is no distributed.Client")
    if client.asynchronous:
        raise InputError("client: is asynchronous; a Client made outside an event loop is needed")
    if client.status != "running":
        raise InputError(f"client: is {client.status}, not running")
    return client


def pickled(function: Callable[..., Any]) -> bytes:
    """Return the function as it is sent.

    Raises
    ------
    InputError
        If it can't be pickled.
    """
    if not callable(function):
        raise InputError(f"function: {function!r} can't be called")
    import cloudpickle  # type: ignore[import-untyped]

    try:
        data: bytes = pickle.dumps(function)
        if b"__main__" not in data:
            return data
    except Exception:
        log.debug("pickle can't hold the function; cloudpickle may")
    try:
        data = cloudpickle.dumps(function)
    except Exception as error:
        raise InputError(f"function: can't be pickled: {error}") from error
    return data


def refuse_unpicklable(item: Any, place: str) -> None:
    """Refuse an item of the data that can't be sent.

    Raises
    ------
    InputError
        If it can't be pickled; the message starts with its ``place``.
    """
    import cloudpickle

    try:
        cloudpickle.dumps(item)
    except Exception as error:
        raise InputError(f"{place}: can't be pickled: {error}") from error


def on_loop(client: Any, work: Callable[[], Coroutine[Any, Any, Value]]) -> Value:
    """Run a coroutine on the client's event loop; Ctrl-C cancels it and waits until it is tidy."""
    loop = client.loop.asyncio_loop
    tasks: list[asyncio.Task[Value]] = []

    async def begin() -> Value:
        tasks.append(asyncio.create_task(work()))
        return await tasks[0]

    async def tidy() -> None:
        for task in tasks:
            task.cancel()
            await asyncio.wait({task}, timeout=LONGEST_CLEAN_UP)

    try:
        return asyncio.run_coroutine_threadsafe(begin(), loop).result()
    except BaseException:
        if not (tasks and tasks[0].done()):
            asyncio.run_coroutine_threadsafe(tidy(), loop).result(2 * LONGEST_CLEAN_UP)
        raise


class Crew:
    """The workers by name, looked at again and again while it is entered.

    ``members`` holds those that are there; ``joined`` is called with each that comes. All methods
    run on the client's event loop.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self.members: dict[str, Member] = {}
        self.joined: Callable[[Member], None] | None = None
        self.left: Callable[[Member], None] | None = None
        self._names: dict[str, str] = {}
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Crew:
        await self.look()
        self._watch = asyncio.create_task(self._keep_looking())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._watch is not None
        self._watch.cancel()
        with suppress(asyncio.CancelledError):
            await self._watch

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.members)

    def member(self, name: str) -> Member:
        """Return a worker that is there.

        Raises
        ------
        WorkerLost
            If it is not.
        """
        if name not in self.members:
            raise WorkerLost(name)
        return self.members[name]

    async def look(self) -> None:
        """See who is there now."""
        present = await self._present()
        for name, member in list(self.members.items()):
            if present.get(name, ("", 0))[0] != member.address:
                del self.members[name]
                member.gone.set()
                log.info("worker %s left", name)
                if self.left is not None:
                    self.left(member)
        for name, (address, threads) in present.items():
            if name not in self.members:
                self.members[name] = Member(name, address, threads)
                if self.joined is not None:
                    self.joined(self.members[name])

    async def _present(self) -> dict[str, tuple[str, int]]:
        """Return name → (address, threads), ordered by name."""
        threads = await self.client.scheduler.ncores()
        if not threads.keys() <= self._names.keys():
            wants = "n_workers" in signature(self.client.scheduler_info).parameters
            arguments = {"n_workers": -1} if wants else {}
            identity = await self.client.scheduler.identity(**arguments)
            workers = identity["workers"].items()
            self._names = {address: str(worker["name"]) for address, worker in workers}
        found = [
            (self._names[address], address, count)
            for address, count in threads.items()
            if address in self._names
        ]
        found.sort(key=lambda entry: _natural(entry[0]))
        return {name: (address, count) for name, address, count in found}

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY)
            with suppress(OSError, TimeoutError):
                await self.look()

    async def while_there(self, member: Member, work: Awaitable[Value]) -> Value:
        """Await ``work``, which needs a worker.

        Raises
        ------
        WorkerLost
            If the worker leaves first.
        """
        task = asyncio.ensure_future(work)
        gone = asyncio.create_task(member.gone.wait())
        try:
            await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
            if task.done() and not task.cancelled():
                return task.result()
            raise WorkerLost(member.name)
        finally:
            gone.cancel()
            if not task.done():
                task.cancel()
                task.add_done_callback(_forget)
            elif not task.cancelled():
                task.exception()


def _forget(task: asyncio.Future[Any]) -> None:
    """Take the exception of a task that nobody awaits any more."""
    if not task.cancelled():
        task.exception()


def _natural(name: str) -> tuple[int, int | str, str]:
    """Order numbered names by their number."""
    return (0, int(name), "") if name.isdecimal() else (1, 0, name)


def refuse_no_worker(crew: Crew) -> None:
    """Say so where there is nobody to work.

    Raises
    ------
    ExecutionError
        If there is no worker.
    """
    if not crew.members:
        raise ExecutionError(f"the scheduler at {crew.client.scheduler.address} has no worker")


@contextmanager
def client_or_local(client: Any | None) -> Iterator[Any]:
    """Give the client, or one of a cluster on this machine that ends with the block."""
    if client is not None:
        yield checked_client(client)
        return
    import os

    package = distributed()
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
