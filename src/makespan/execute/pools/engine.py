"""The engine of pools: slots that call back, each a worker of one thread."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import Any

import numpy as np

from makespan.core.errors import ExecutionError, InputError
from makespan.execute.dealing.engine import Held, Outcome, Packed, Window, WorkerInfo, WorkerLost
from makespan.execute.dealing.items import Files, Items, footprint
from makespan.execute.dealing.state import Job
from makespan.execute.pickles import outcome_of, part_of, payload, refuse_unpicklable
from makespan.execute.pools.reception import Pool, Reception, Slot
from makespan.execute.pools.slot import Inside, Line, serve, serve_inside
from makespan.execute.remote import Call, Here, _dumps
from makespan.execute.travel import NAME  # noqa: F401 - what workers return is known by it

LOOK_EVERY = 0.5  # seconds between looks whether the pool has grown
JOINING = 0.05  # seconds for which slots are waited for beside the first
FAILED_STARTS = 3  # slots in a row that end before they call: there will be none
ENDING = 2.0  # seconds that slots without work have to end

log = logging.getLogger("makespan")


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolJob(Job):
    """A job for a pool.

    Parameters
    ----------
    call
        The function.
    sent
        The same, pickled; None where it need not be.
    """

    call: Call
    sent: bytes | None


class PoolEngine:
    """Slots of a pool as workers, for one job; ``async with`` it.

    Parameters
    ----------
    pool
        What starts them.
    job
        What they do.
    """

    def __init__(self, pool: Pool, job: PoolJob) -> None:
        self.pool, self.job = pool, job
        self.workers: dict[str, WorkerInfo] = {}
        self._slots: dict[str, Slot] = {}
        self._running: dict[str, Future[Any]] = {}
        self._numbers = iter(range(10**12))
        self._prefix = uuid.uuid4().hex
        self._changed: Callable[[WorkerInfo], None] = lambda worker: None
        self._came = asyncio.Event()
        self._failed, self._broken, self._closing = 0, "", False
        self._loop = asyncio.get_running_loop()

    async def __aenter__(self) -> PoolEngine:
        if not self.pool.inside:
            self._reception = Reception(self.pool.host, self._meet)
        try:
            self._grow()
            self._growing = asyncio.ensure_future(self._keep_growing())
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing = True
        if hasattr(self, "_growing"):
            self._growing.cancel()
        idle = {name for name, slot in self._slots.items() if not slot.working}
        where = {name: slot.info.address for name, slot in self._slots.items()}
        for slot in list(self._slots.values()):
            slot.outbox.put(None)
            slot.line.close()
        if not self.pool.inside:
            await asyncio.to_thread(self._reception.close)
        for name, future in self._running.items():
            future.cancel()
            if name not in idle:
                await asyncio.to_thread(self.pool.end, name, where.get(name, ""))
        ending = [asyncio.wrap_future(self._running[name]) for name in idle & {*self._running}]
        if ending:
            await asyncio.wait(ending, timeout=ENDING)
            for one in ending:
                if one.done() and not one.cancelled():
                    one.exception()
        self.pool.close()

    def _meet(self, line: Line | Inside) -> None:
        Thread(target=self._read, args=(line,), name="makespan-read", daemon=True).start()

    def _soon(self, function: Callable[..., object], *arguments: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(function, *arguments)

    def _read(self, line: Line | Inside) -> None:
        """Take what a slot says, in a thread."""
        slot: Slot | None = None
        try:
            _, name, host, process = line.receive()
            info = WorkerInfo(name, f"{host}:{process}", 1)
            slot = Slot(line, info, host == socket.gethostname())
            self._soon(self._join, slot)
            while True:
                what, number, found = line.receive()
                now = time.time()
                if what == "done":
                    outcome = outcome_of(*found)
                    found = outcome, Window(outcome.end if slot.same_clock else now, now)
                elif what == "failed":
                    why = f"worker {name} can't run the function: {found}"
                    found = ExecutionError(why)
                self._soon(_resolve, slot, number, found)
        except (EOFError, OSError):
            pass
        except Exception as error:  # a line that is closed meanwhile has no number
            if not self._closing:
                log.warning("a worker is not understood: %s", error)
        line.close()
        if slot is not None:
            self._soon(self._leave, slot)

    def _write(self, slot: Slot) -> None:
        """Say to a slot what is to be said, in a thread."""
        while (entry := slot.outbox.get()) is not None:
            message, sent = entry
            try:
                slot.line.send(*message)
            except (OSError, TypeError, ValueError):  # it is closed
                break
            finally:
                del message, entry
            if sent is not None:
                self._soon(_settle, sent)

    def _join(self, slot: Slot) -> None:
        name = slot.info.name
        if self._closing or name in self._slots:
            slot.line.close()
            return
        self._failed = 0
        self._slots[name] = slot
        slot.ended = self._running.get(name, slot.ended)
        job = self.job
        function = job.sent if job.sent is not None and not self.pool.inside else job.call
        slot.outbox.put((("function", function, job.batched), None))
        Thread(target=self._write, args=(slot,), name="makespan-write", daemon=True).start()
        self.workers[name] = slot.info
        self._came.set()
        self._changed(slot.info)

    def _leave(self, slot: Slot) -> None:
        info = slot.info
        slot.outbox.put(None)
        if self._slots.get(info.name) is not slot:
            return
        del self._slots[info.name], self.workers[info.name]
        info.gone.set()
        if not self._closing:
            info.why = self.pool.why(slot.ended)
        for future in slot.expected.values():
            if not future.done():
                future.set_exception(WorkerLost(info.name))
                future.exception()
        slot.expected.clear()
        if not self._closing:
            self._changed(info)
            if slot.ended.done():
                self._ended(info.name, slot.ended)

    def _grow(self) -> None:
        """Start slots where there may be more."""
        for name in map(str, range(self.pool.count())):
            if name not in self._running and not self._broken:
                self._begin(name)

    def _begin(self, name: str) -> None:
        try:
            if self.pool.inside:
                ours, theirs = Inside.pair()
                self._running[name] = self.pool.start(serve_inside, theirs, name)
                self._meet(ours)
            else:
                self._running[name] = self.pool.start(serve, self._reception.where, name)
        except ExecutionError as error:
            self._broken = str(error)
            self._came.set()
            return
        self._running[name].add_done_callback(lambda future: self._soon(self._ended, name, future))

    def _ended(self, name: str, future: Future[Any]) -> None:
        """Start a slot again that has ended before the run, once all it said is read."""
        if self._closing or self._running.get(name) is not future or name in self._slots:
            return
        del self._running[name]
        self._failed += 1
        error = None if future.cancelled() else future.exception()
        why = "they end at once" if error is None else str(error) or type(error).__name__
        if self._failed > FAILED_STARTS * max(1, self.pool.count()):
            self._broken = f"no worker can be started: {why}"
        if self._broken:
            self._came.set()
        else:
            self._begin(name)

    async def _keep_growing(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY)
            self._grow()

    def watch(self, changed: Callable[[WorkerInfo], None] | None) -> None:
        """Call a function with each worker that comes, or has gone."""
        self._changed = changed or (lambda worker: None)

    async def wait_for_worker(self, items: int) -> None:
        """Wait until slots are there; where there is to be none any more, say so."""
        while not self.workers:
            self._came.clear()
            if self._broken:
                raise ExecutionError(f"no worker is left: {self._broken}")
            await self._came.wait()
        until = self._loop.time() + JOINING
        while len(self.workers) < self.pool.count() and self._loop.time() < until:
            await asyncio.sleep(JOINING / 50)

    def show_load(self, seconds: float | None, items: int, threads: int) -> None:
        """Pools don't grow for that."""

    async def pack(self, worker: WorkerInfo, items: Items, low: int, high: int) -> Packed:
        """Pickle the items from ``low`` to ``high``, large buffers aside; threads get them as they
        are.
        """
        data = items.data
        if self.pool.inside:
            part = (
                list(data.paths[low:high]) if isinstance(data, Files) else part_of(data, low, high)
            )
            return Packed(low, high, Here(part), int(footprint(part) * (high - low)), {})
        if isinstance(data, (np.ndarray, Files)):
            sent, count, _ = payload(items, low, high)
            return Packed(low, high, sent, count, {})
        buffers: list[Any] = []
        try:
            text = _dumps(part_of(data, low, high), buffers)
        except Exception as error:
            refuse_unpicklable(items, low, high)
            raise InputError(
                f"data: items {low} to {high - 1} can't be pickled: {error}"
            ) from error
        count = len(text) + sum(buffer.raw().nbytes for buffer in buffers)
        return Packed(low, high, [text, *buffers], count, {})

    def _slot(self, worker: WorkerInfo) -> Slot:
        slot = self._slots.get(worker.name)
        if slot is None or slot.info is not worker:
            raise WorkerLost(worker.name)
        return slot

    async def send(self, worker: WorkerInfo, packed: Packed, *, apart: bool = True) -> Held:
        """Send items; the slot begins with them when it is done with those before."""
        slot, key = self._slot(worker), f"{self._prefix}-{next(self._numbers)}"
        done: asyncio.Future[Any] = self._loop.create_future()
        sent: asyncio.Future[Any] = self._loop.create_future()
        slot.expected[key], slot.expected[key, "sent"] = done, sent
        slot.working.add(key)
        start = time.time()
        message = ("chunk", packed.sent, key, packed.low, packed.high)
        slot.outbox.put((message, sent if apart else None))
        packed.sent = None
        del message
        try:
            if apart:
                await sent
        finally:
            slot.expected.pop((key, "sent"), None)
        return Held(worker, key, packed, None, Window(start, time.time() if apart else start))

    def start(self, held: Held, priority: int) -> list[Any]:
        """Return the task that a chunk is since it was sent."""
        found = self._slots.get(held.worker.name)
        if found is None or held.key not in found.expected:
            lost: asyncio.Future[Any] = self._loop.create_future()
            lost.set_exception(WorkerLost(held.worker.name))
            return [lost]
        return [found.expected[held.key]]

    async def finished(
        self, worker: WorkerInfo, tasks: list[Any], each: Callable[[int], None] = lambda n: None
    ) -> float:
        """Wait for the task, whose results come with that news."""
        (task,) = tasks
        found = await task
        if isinstance(found, Exception):
            raise found
        each(0)
        return float(found[1].start)

    async def fetch(self, worker: WorkerInfo, tasks: list[Any]) -> tuple[list[Outcome], Window]:
        """Return what came."""
        outcome, window = tasks[0].result()
        return [outcome], window

    def release(self, *futures: Any) -> None:
        """Expect nothing of tasks any more."""
        for slot in self._slots.values():
            for key in [key for key, one in slot.expected.items() if one in futures]:
                del slot.expected[key]

    async def take_back(
        self, worker: WorkerInfo, chunks: Sequence[tuple[str, int, int]], kept: float
    ) -> list[tuple[int, int, float]]:
        """Take back what the slot has not begun."""
        slot, number = self._slot(worker), next(self._numbers)
        answer: asyncio.Future[Any] = self._loop.create_future()
        slot.expected[number] = answer
        slot.outbox.put((("take", number, list(chunks), kept), None))
        try:
            found: list[tuple[int, int, float]] = await answer
            return found
        finally:
            slot.expected.pop(number, None)


def _resolve(slot: Slot, number: Any, found: Any) -> None:
    slot.working.discard(number)
    future = slot.expected.get(number)
    if future is not None and not future.done():
        future.set_result(found)


def _settle(future: asyncio.Future[Any]) -> None:
    if not future.done():
        future.set_result(None)
