"""Bytes to a worker, a task on it, and its results back: each with the client's clock."""

from __future__ import annotations

import asyncio
import time
import uuid
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from makespan.core.errors import ExecutionError
from makespan.execute.dask.cluster import Crew, Member, WorkerLost, refuse_unpicklable
from makespan.execute.dask.items import Items
from makespan.execute.dask.remote import Outcome, work


@dataclass(frozen=True, slots=True)
class Window:
    """From when to when something took on the client's clock, seconds since the epoch."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclass(slots=True)
class Held:
    """A chunk that lies on a worker: its future and the window of its transfer."""

    member: Member
    future: Any
    window: Window


class Traffic:
    """All transfers and tasks of one run, so that none is left behind.

    Parameters
    ----------
    crew
        The workers.
    function
        The pickled function.
    batched
        Whether the function takes a whole chunk.
    """

    def __init__(self, crew: Crew, function: bytes, batched: bool) -> None:
        self.crew = crew
        self.client = crew.client
        self.function = function
        self.batched = batched
        self._prefix = f"makespan-{uuid.uuid4().hex[:12]}"
        self._count = 0
        self._alive: dict[str, Any] = {}

    def _key(self, what: str) -> str:
        self._count += 1
        return f"{self._prefix}-{what}-{self._count}"

    async def send(self, member: Member, items: Items, low: int, high: int) -> Held:
        """Send the items from ``low`` to ``high``; returns when the worker has acknowledged them.

        Raises
        ------
        WorkerLost
            If the worker left.
        InputError
            If an item can't be pickled.
        """
        key = self._key("chunk")
        payload = items.payload(low, high)
        start = time.time()
        scattered = self.client.scatter(
            {key: payload}, workers=[member.address], direct=True, hash=False, asynchronous=True
        )
        try:
            futures = await self.crew.while_there(member, scattered)
        except WorkerLost:
            raise
        except Exception as error:
            await self.crew.look()
            if member.gone.is_set() or isinstance(error, (OSError, TimeoutError)):
                raise WorkerLost(f"{member.name}: {error}") from error
            for index in range(low, high):
                refuse_unpicklable(items.payload(index, index + 1), f"data[{index}]")
            raise ExecutionError(f"items {low} to {high - 1} can't be sent: {error}") from error
        self._alive[key] = futures[key]
        return Held(member, futures[key], Window(start, time.time()))

    def start(self, held: Held, first: int, priority: int) -> list[Any]:
        """Start the function on a chunk, a task for each thread; returns at once."""
        member = held.member
        futures = []
        for part in range(member.threads):
            key = self._key("work")
            self._alive[key] = self.client.submit(
                work,
                self.function,
                held.future,
                first,
                self.batched,
                part,
                member.threads,
                key=key,
                workers=[member.address],
                allow_other_workers=False,
                priority=priority,
                pure=False,
            )
            futures.append(self._alive[key])
        return futures

    async def finished(self, member: Member, futures: list[Any]) -> float:
        """Wait until tasks are done; returns when the client knew.

        Raises
        ------
        WorkerLost
            If the worker left, or Dask gave a task up.
        ExecutionError
            If the function can't run there at all, for instance for lack of a module.
        """
        from distributed import wait

        with self.client.as_current():
            all_done = wait(futures)
        with suppress(CancelledError):  # Dask gave a task up; its status says so
            await self.crew.while_there(member, all_done)
        now = time.time()
        for future in futures:
            if future.status == "error":
                await self._explain(member, await future.exception())
            if future.status != "finished":
                await self.crew.look()
                raise WorkerLost(member.name)
        return now

    async def _explain(self, member: Member, error: BaseException | None) -> None:
        from distributed import KilledWorker

        lost = isinstance(error, (KilledWorker, asyncio.CancelledError, OSError))
        if lost or type(error).__name__ in ("FutureCancelledError", "FutureLostError"):
            await self.crew.look()
            raise WorkerLost(member.name) from error
        raise ExecutionError(
            f"worker {member.name} can't run the function: {type(error).__name__}: {error}"
        ) from error

    async def fetch(self, member: Member, futures: list[Any]) -> tuple[list[Outcome], Window]:
        """Bring outcomes back.

        The client's own ``gather`` puts requests that come together into one, which then waits
        for the slowest worker; here each worker is asked by itself.

        Raises
        ------
        WorkerLost
            If the worker left.
        """
        from distributed.utils_comm import gather_from_workers

        start = time.time()
        where = {future.key: [member.address] for future in futures}
        try:
            found = await self.crew.while_there(
                member, gather_from_workers(where, rpc=self.client.rpc)
            )
        except OSError as error:
            await self.crew.look()
            raise WorkerLost(f"{member.name}: {error}") from error
        data = found[0]
        if len(data) < len(futures):
            await self._explain_missing(member, futures)
        return [data[future.key] for future in futures], Window(start, time.time())

    async def _explain_missing(self, member: Member, futures: list[Any]) -> None:
        """Say why results did not come."""
        await self.crew.look()
        if not member.gone.is_set():
            try:
                await self.client.gather(futures, direct=True, asynchronous=True)
            except Exception as error:
                raise ExecutionError(
                    f"results of worker {member.name} can't be fetched: {error}"
                ) from error
        raise WorkerLost(member.name)

    def release(self, *futures: Any) -> None:
        """Let Dask forget a chunk or a result."""
        for future in futures:
            self._alive.pop(future.key, None)
            future.release()

    async def close(self) -> None:
        """Cancel and forget whatever is still there."""
        left = list(self._alive.values())
        self._alive.clear()
        if left and self.client.status == "running":
            await self.client.cancel(left, asynchronous=True, force=True)
        for future in left:
            future.release()
