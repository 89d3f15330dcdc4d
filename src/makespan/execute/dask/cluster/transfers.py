"""Bytes to a worker, a task on it, and its results back: each with the client's clock."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from makespan.core.errors import ExecutionError, InputError
from makespan.execute.dask.cluster.cleanup import LONGEST_TIDYING, forgotten, sweep_later, swept
from makespan.execute.dask.cluster.crew import Crew, Member, WorkerLost, forget_outcome
from makespan.execute.dask.cluster.inputs import Function
from makespan.execute.dask.cluster.items import Items
from makespan.execute.dask.cluster.travel import work
from makespan.execute.outcome import Outcome
from makespan.execute.remote import Broken, failure

FINE = 1e-6  # of a step of priority, between one chunk and the next
LARGE = 50_000  # bytes of a function, from which it is sent once to each worker
SMALL = 10_000  # bytes of a chunk that may go with its tasks

log = logging.getLogger("makespan")


@dataclass(frozen=True, slots=True)
class Window:
    """From when to when something took on the client's clock, seconds since the epoch."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclass(slots=True)
class Packed:
    """Items as they are sent, the bytes, and what the futures among them hold: see ``inputs``."""

    low: int
    high: int
    sent: Any
    bytes: int
    inputs: dict[Any, Any]


@dataclass(slots=True)
class Held:
    """A chunk that lies on a worker: its key, its items, its future, and when it was sent.

    Of a small chunk that goes with its tasks there is no future.
    """

    member: Member
    key: str
    packed: Packed
    future: Any
    window: Window


class Traffic:
    """All transfers and tasks of one run, so that none is left behind.

    ``async with`` it: at the end of the block the scheduler has confirmed that nothing is left
    wherever the block was interrupted, failed, or lost something.

    Parameters
    ----------
    crew
        The workers.
    function
        The function, pickled, and the futures among its keywords.
    batched
        Whether the function takes a whole chunk.
    resources
        What each task needs.
    priority
        Of all tasks; among themselves they go by :meth:`start`.
    """

    def __init__(
        self,
        crew: Crew,
        function: Function,
        batched: bool,
        resources: Mapping[str, float] | None = None,
        priority: float = 0.0,
    ) -> None:
        self.crew = crew
        self.client = crew.client
        self.function, self._futures = function
        self._where = self.client.scheduler.address, self.client.security
        self.batched = batched
        self.resources = dict(resources or {}) or None
        self.priority = priority
        self._prefix = f"makespan-{uuid.uuid4().hex[:12]}"
        self._keys: list[str] = []
        self._alive: dict[str, Any] = {}
        self._sending: dict[str, asyncio.Future[Any]] = {}
        self._functions: dict[str, asyncio.Future[Any]] = {}
        self._untidy = False

    async def __aenter__(self) -> Traffic:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        try:
            for function in self._functions.values():
                if function.done() and not function.cancelled() and not function.exception():
                    self.release(function.result())
            if kind is not None or self._alive or self._sending or self._untidy:
                await self._tidy(patient=kind is not None)
        finally:
            if self.client.status in ("closing", "closed"):
                # its event loop may be ending, and whoever ends it holds Dask's lock until it has
                threading.Thread(target=swept, args=(*self._where, self._keys)).start()

    def _key(self, what: str) -> str:
        self._keys.append(f"{self._prefix}-{what}-{len(self._keys)}")
        return self._keys[-1]

    async def pack(self, member: Member, items: Items, low: int, high: int) -> Packed:
        """Pickle the items from ``low`` to ``high``, and wait for the futures among them.

        Raises
        ------
        WorkerLost
            If the worker left meanwhile.
        InputError
            If an item can't be pickled.
        """
        try:
            sent, count, futures = items.payload(low, high)
        except InputError:
            items.refuse_unpicklable(low, high)
            raise
        futures = self._futures | futures
        return Packed(low, high, sent, count, await self._inputs(member, futures))

    async def _inputs(self, member: Member, futures: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return futures of this client's that are done, and why there is nothing in others."""
        from distributed import Future, wait

        inputs: dict[Any, Any] = {}
        for key, future in futures.items():
            of = future._client
            if of is self.client:
                inputs[key] = future
            elif of is not None and of.scheduler.address != self.client.scheduler.address:
                inputs[key] = _broken(f"{key} is on another cluster, {of.scheduler.address}")
            elif (await self.client.scheduler.get_task_status(keys=[key]))[key] is None:
                inputs[key] = _broken(f"{key} is cancelled")
            else:
                inputs[key] = Future(key, self.client)
                wanted = {"op": "client-desires-keys", "keys": [key], "client": self.client.id}
                self.client._send_to_scheduler(wanted)
        mine = [one for one in inputs.values() if isinstance(one, Future)]
        if mine:
            with self.client.as_current():
                all_done = wait(mine)
            with suppress(CancelledError):  # the status says so
                await self.crew.while_there([member], all_done)
        for future in mine:
            if future.status == "error":
                inputs[future.key] = Broken(failure(0, 0, await future.exception())[2])
            elif future.status != "finished":
                inputs[future.key] = _broken(f"{future.key} is {future.status}")
        return inputs

    async def send(self, member: Member, packed: Packed, *, apart: bool = True) -> Held:
        """Send items; returns when the worker has acknowledged them.

        A small chunk that need not go ``apart`` goes with its tasks: that saves messages.

        Raises
        ------
        WorkerLost
            If the worker left.
        """
        key = self._key("chunk")
        if len(self.function) > LARGE and member.address not in self._functions:
            function = self._scatter(member, self._key("function"), self.function)
            self._functions[member.address] = asyncio.ensure_future(function)
        start = time.time()
        if not apart and packed.bytes <= SMALL and member.address not in self._functions:
            return Held(member, key, packed, None, Window(start, start))
        try:
            future = await self._scatter(member, key, packed.sent)
            if member.address in self._functions:
                await asyncio.shield(self._functions[member.address])
        except WorkerLost:
            raise
        except Exception as error:
            raise ExecutionError(
                f"items {packed.low} to {packed.high - 1} can't be sent: {error}"
            ) from error
        packed.sent = None
        return Held(member, key, packed, future, Window(start, time.time()))

    async def _scatter(self, member: Member, key: str, payload: Any) -> Any:
        scattered = asyncio.ensure_future(
            self.client.scatter(
                {key: payload}, workers=[member.address], direct=True, hash=False, asynchronous=True
            )
        )
        self._sending[key] = scattered
        try:
            futures = await self.crew.while_there([member], asyncio.shield(scattered))
        except WorkerLost:
            self._untidy = True
            del self._sending[key]  # it ends by itself: cut off, it might arrive unknown to anybody
            scattered.add_done_callback(forget_outcome)
            raise
        del self._sending[key]
        self._alive[key] = futures[key]
        return futures[key]

    def start(self, held: Held, priority: int) -> list[Any]:
        """Start the function on a chunk, a task for each thread; returns at once."""
        member, packed = held.member, held.packed
        there = self._functions.get(member.address)
        function = self.function if there is None else there.result()
        parts = min(member.threads, packed.high - packed.low)
        futures = []
        for _ in range(parts):
            key = self._key("work")
            self._alive[key] = self.client.submit(
                work,
                function,
                packed.sent if held.future is None else held.future,
                held.key,
                packed.low,
                packed.high,
                self.batched,
                parts,
                packed.inputs,
                not member.address.startswith("inproc://"),
                key=key,
                workers=[member.address],
                allow_other_workers=False,
                priority=self.priority + FINE * priority,
                resources=self.resources,
                pure=False,
            )
            futures.append(self._alive[key])
        return futures

    async def finished(
        self,
        member: Member,
        futures: list[Any],
        each: Callable[[int], None] = lambda running: None,
    ) -> float:
        """Wait until tasks are done; returns when the client knew.

        ``each`` is called with the number of those that run on, whenever one is done.

        Raises
        ------
        WorkerLost
            If the worker left, or Dask gave a task up.
        ExecutionError
            If the function can't run there at all, for instance for lack of a module.
        """
        from distributed import wait

        running = futures
        with suppress(CancelledError):  # Dask gave a task up; its status says so
            while running:
                with self.client.as_current():
                    one_done = wait(running, return_when="FIRST_COMPLETED")
                running = [*(await self.crew.while_there([member], one_done)).not_done]
                each(len(running))
        now = time.time()
        for future in futures:
            if future.status == "error":
                await self._explain(member, await future.exception())
            if future.status != "finished":
                await self.crew.look()
                raise WorkerLost(member.name)
        return now

    async def _explain(self, member: Member, error: BaseException | None) -> None:
        if _given_up(error):
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
        gathering = gather_from_workers(where, rpc=self.client.rpc)
        found = await self.crew.while_there([member], gathering)
        data = found[0]
        if len(data) < len(futures):
            await self._explain_missing(member, futures)
        window = Window(start, time.time())
        return [Outcome.of(*data[future.key]) for future in futures], window

    async def _explain_missing(self, member: Member, futures: list[Any]) -> None:
        """Say why results did not come."""
        await self.crew.look()
        if not member.gone.is_set():
            gathering = self.client.gather(futures, direct=True, asynchronous=True)
            try:
                await self.crew.while_there([member], gathering)
            except Exception as error:
                if not isinstance(error, WorkerLost) and not _given_up(error):
                    raise ExecutionError(
                        f"results of worker {member.name} can't be fetched: {error}"
                    ) from error
        raise WorkerLost(member.name)

    def release(self, *futures: Any) -> None:
        """Let Dask forget a chunk, unless it has no future, or a result."""
        for future in futures:
            if future is not None:
                self._alive.pop(future.key, None)
                future.release()

    async def _tidy(self, *, patient: bool) -> None:
        """Cancel whatever is still there; return when the scheduler knows nothing of it."""
        try:
            async with asyncio.timeout(LONGEST_TIDYING):
                await self._end_sends(LONGEST_TIDYING / 2 if patient else 0.0)
                left = [*self._alive.values()]
                self._alive.clear()
                if left and self.client.status == "running":
                    await self.client.cancel(left, asynchronous=True, force=True)
                for future in left:
                    future.release()
                await forgotten(self.client, self._keys)
            if self.client.status == "connecting":  # what was on its way may come to the next one
                sweep_later(self.client, self._keys)
        except (OSError, TimeoutError) as error:
            log.warning("the scheduler did not confirm that nothing is left on it: %s", error)
            sweep_later(self.client, self._keys)

    async def _end_sends(self, longest: float) -> None:
        """Wait for the sends that are under way, or see later to those that take longer.

        A send that is cut off may still arrive, and would stay on the worker for ever, as the
        scheduler does not know of it.
        """
        sends, self._sending = self._sending, {}
        if not sends:
            return
        done, pending = await asyncio.wait(sends.values(), timeout=longest)
        for sending in pending:
            sending.cancel()
        if pending:
            sweep_later(self.client, self._keys)
        for sending in done:
            if not sending.cancelled() and sending.exception() is None:
                self._alive.update(sending.result())


def _broken(why: str) -> Broken:
    return Broken(failure(0, 0, CancelledError(f"the future {why}"))[2])


def _given_up(error: BaseException | None) -> bool:
    """Whether Dask lost a task, rather than the task raised."""
    from distributed import KilledWorker

    known = isinstance(error, (KilledWorker, asyncio.CancelledError, CancelledError, OSError))
    return known or type(error).__name__ == "FutureLostError"
