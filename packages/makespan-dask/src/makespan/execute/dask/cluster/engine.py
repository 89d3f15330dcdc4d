"""Bytes to a worker, a task on it, and its results back: each with the client's clock."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from types import TracebackType
from typing import Any

from makespan.core.errors import ExecutionError
from makespan.execute.dask.cluster.client import LONGEST_TIDYING, forgotten, sweep_later, swept
from makespan.execute.dask.cluster.workers import WorkerPool, forget_outcome
from makespan.execute.dealing.engine import Held, Outcome, Packed, Window, WorkerInfo, WorkerLost
from makespan.execute.dealing.items import Items
from makespan.execute.pickles import Function, outcome_of, payload
from makespan.execute.remote import Broken, failure
from makespan.execute.travel import taken_back, work

FINE = 1e-6  # of a step of priority, between one chunk and the next
LARGE = 50_000  # bytes of a function, from which it is sent once to each worker
SMALL = 10_000  # bytes of a chunk that may go with its tasks

log = logging.getLogger("makespan")


class DaskEngine:
    """The engine of Dask: all transfers and tasks of one run, so that none is left behind.

    ``async with`` it: at the end of the block the scheduler has confirmed that nothing is left
    wherever the block was interrupted, failed, or lost something. ``function`` is pickled, with the
    futures among its keywords; ``batched``: it takes a whole chunk. ``resources`` is what each task
    needs, ``priority`` that of all tasks; among themselves they go by :meth:`start`.
    """

    def __init__(
        self,
        pool: WorkerPool,
        function: Function,
        batched: bool,
        resources: Mapping[str, float] | None = None,
        priority: float = 0.0,
    ) -> None:
        self.pool = pool
        self.client = pool.client
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

    async def __aenter__(self) -> DaskEngine:
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

    @property
    def workers(self) -> Mapping[str, WorkerInfo]:
        """The workers that are there now, by name."""
        return self.pool.members

    def watch(self, changed: Callable[[WorkerInfo], None] | None) -> None:
        """Call a function with each worker that comes, or has gone."""
        self.pool.changed = changed or (lambda worker: None)

    async def wait_for_worker(self, items: int) -> None:
        """Wait until a worker is there, for so many items."""
        await self.pool.wait_for_one(items)

    def show_load(self, seconds: float | None, items: int, threads: int) -> None:
        """Show the scheduler how much is to do."""
        self.pool.load.show(seconds, items, threads)

    async def take_back(
        self, worker: WorkerInfo, chunks: Sequence[tuple[str, int, int]], kept: float
    ) -> list[tuple[int, int, float]]:
        """Take items back; see :func:`makespan.execute.remote.taken_back`."""
        found: list[tuple[int, int, float]] = await self.pool.call(worker, taken_back, chunks, kept)
        return found

    async def pack(self, worker: WorkerInfo, items: Items, low: int, high: int) -> Packed:
        """Pickle the items from ``low`` to ``high``, and wait for the futures among them."""
        sent, count, futures = payload(items, low, high)
        futures = self._futures | futures
        return Packed(low, high, sent, count, await self._inputs(worker, futures))

    async def _inputs(self, worker: WorkerInfo, futures: Mapping[Any, Any]) -> dict[Any, Any]:
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
                await self.pool.while_there([worker], all_done)
        for future in mine:
            if future.status == "error":
                inputs[future.key] = Broken(failure(0, 0, await future.exception())[2])
            elif future.status != "finished":
                inputs[future.key] = _broken(f"{future.key} is {future.status}")
        return inputs

    async def send(self, worker: WorkerInfo, packed: Packed, *, apart: bool = True) -> Held:
        """Send items; returns when the worker has acknowledged them.

        A small chunk that need not go ``apart`` goes with its tasks: that saves messages.
        """
        key = self._key("chunk")
        if len(self.function) > LARGE and worker.address not in self._functions:
            function = self._scatter(worker, self._key("function"), self.function)
            self._functions[worker.address] = asyncio.ensure_future(function)
        start = time.time()
        if not apart and packed.bytes <= SMALL and worker.address not in self._functions:
            return Held(worker, key, packed, None, Window(start, start))
        try:
            future = await self._scatter(worker, key, packed.sent)
            if worker.address in self._functions:
                await asyncio.shield(self._functions[worker.address])
        except WorkerLost:
            raise
        except Exception as error:
            raise ExecutionError(
                f"items {packed.low} to {packed.high - 1} can't be sent: {error}"
            ) from error
        packed.sent = None
        return Held(worker, key, packed, future, Window(start, time.time()))

    async def _scatter(self, worker: WorkerInfo, key: str, value: Any) -> Any:
        scattered = asyncio.ensure_future(
            self.client.scatter(
                {key: value}, workers=[worker.address], direct=True, hash=False, asynchronous=True
            )
        )
        self._sending[key] = scattered
        try:
            futures = await self.pool.while_there([worker], asyncio.shield(scattered))
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
        worker, packed = held.worker, held.packed
        there = self._functions.get(worker.address)
        function = self.function if there is None else there.result()
        parts = min(worker.threads, packed.high - packed.low)
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
                not worker.address.startswith("inproc://"),
                key=key,
                workers=[worker.address],
                allow_other_workers=False,
                priority=self.priority + FINE * priority,
                resources=self.resources,
                pure=False,
            )
            futures.append(self._alive[key])
        return futures

    async def finished(
        self,
        worker: WorkerInfo,
        futures: list[Any],
        each: Callable[[int], None] = lambda running: None,
    ) -> float:
        """Wait until tasks are done; returns when the client knew.

        ``each`` is called with the number of those that run on, whenever one is done.
        """
        from distributed import wait

        running = futures
        with suppress(CancelledError):  # Dask gave a task up; its status says so
            while running:
                with self.client.as_current():
                    one_done = wait(running, return_when="FIRST_COMPLETED")
                running = [*(await self.pool.while_there([worker], one_done)).not_done]
                each(len(running))
        now = time.time()
        for future in futures:
            if future.status == "error":
                await self._explain(worker, await future.exception())
            if future.status != "finished":
                await self.pool.look()
                raise WorkerLost(worker.name)
        return now

    async def _explain(self, worker: WorkerInfo, error: BaseException | None) -> None:
        if _given_up(error):
            await self.pool.look()
            raise WorkerLost(worker.name) from error
        raise ExecutionError(
            f"worker {worker.name} can't run the function: {type(error).__name__}: {error}"
        ) from error

    async def fetch(self, worker: WorkerInfo, futures: list[Any]) -> tuple[list[Outcome], Window]:
        """Bring outcomes back.

        The client's own ``gather`` puts requests that come together into one, which then waits
        for the slowest worker; here each worker is asked by itself.
        """
        from distributed.utils_comm import gather_from_workers

        start = time.time()
        where = {future.key: [worker.address] for future in futures}
        gathering = gather_from_workers(where, rpc=self.client.rpc)
        found = await self.pool.while_there([worker], gathering)
        data = found[0]
        if len(data) < len(futures):
            await self._explain_missing(worker, futures)
        window = Window(start, time.time())
        return [outcome_of(*data[future.key]) for future in futures], window

    async def _explain_missing(self, worker: WorkerInfo, futures: list[Any]) -> None:
        """Say why results did not come."""
        await self.pool.look()
        if not worker.gone.is_set():
            gathering = self.client.gather(futures, direct=True, asynchronous=True)
            try:
                await self.pool.while_there([worker], gathering)
            except Exception as error:
                if not isinstance(error, WorkerLost) and not _given_up(error):
                    raise ExecutionError(
                        f"results of worker {worker.name} can't be fetched: {error}"
                    ) from error
        raise WorkerLost(worker.name)

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
