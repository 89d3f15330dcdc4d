"""A run: chunks to workers, and what becomes of those that get lost or are late."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from makespan.core.errors import ExecutionError
from makespan.core.schedule import Activity
from makespan.execute.dealing.backlog import AHEAD, Chunk
from makespan.execute.dealing.balance import Balance
from makespan.execute.dealing.costs import Costs
from makespan.execute.dealing.engine import (
    Engine,
    Failure,
    Outcome,
    Packed,
    Window,
    WorkerInfo,
    WorkerLost,
)
from makespan.execute.dealing.items import Stream
from makespan.execute.dealing.pool import Range
from makespan.execute.dealing.sizes import HELD, Sizes
from makespan.execute.dealing.state import Job, State
from makespan.execute.dealing.transfers import Computation, Record

READ_AHEAD = 2.0  # seconds of work that are read of a stream
SHOW_EVERY = 0.1  # seconds
PATIENCE = 0.1  # seconds for which more items are waited for, where some are there
NOT_TAKEN = 4  # times as much may be read and not taken yet
SHOWN = 8  # workers whose items are shown

log = logging.getLogger("makespan")


class Run(State):
    """One run of a job.

    Whatever lies in the pool is dealt out: a worker with fewer than two chunks ahead of it gets a
    piece whose size follows from what is known of all workers' costs, and from what is left.
    Activities are noted in ``record``; ``costs`` learns.
    """

    def __init__(self, job: Job, engine: Engine, record: Record, costs: Costs) -> None:
        super().__init__(job, engine, costs)
        self.record, self.order = record, job.order
        self._reached: set[str] = set()  # workers that something came to, by address
        self.learning: float | None = None  # when every worker had returned something
        self.planning = 0.0  # seconds
        self._next_item = 0
        self._done: dict[str, int] = {}
        self.balance = Balance(self)
        self.sizes = Sizes(self)

    async def go(self) -> None:
        """Run the chunks of the plan, and deal out all else, to the end; then learn from it."""
        if not self.job.work:
            return
        chunks = self.job.chunks
        self.engine.watch(self._changed)
        self._next_item = max((chunk.item + 1 for chunk in chunks), default=0)
        self.expect(len(self.items), pool=not chunks)
        try:
            async with self.group:
                showing = self.group.create_task(self._show_work())
                for chunk in chunks:
                    self._start(chunk)
                for name in dict.fromkeys(chunk.worker for chunk in chunks):
                    if name not in self.engine.workers:
                        self._say_gone(name, "is not there")
                while self.missing_items or not self.ended:
                    self.changed.clear()
                    if not self.engine.workers:
                        self.job.tell(self.share, "no worker is left; waiting for one")
                        await self.engine.wait_for_worker(self.missing_items)
                        continue
                    self._read()
                    if not self._deal_alone() and not self._deal():
                        await self._wait()
                for task in self.open.values():  # their items came from others
                    task.cancel()
                self.balance.stop()
                showing.cancel()
        except BaseExceptionGroup as group:
            raise _first(group) from None
        finally:
            self.engine.watch(None)
        self.job.learn(self.engine.workers, self.costs)

    def _read(self) -> None:
        """Read more of a stream, where little of it is left and results are taken."""
        if self.ended or self.reading:
            return
        workers = self.engine.workers.values()
        speed = sum(self.costs.speed(worker.name) for worker in workers if self.knows(worker))
        fitting = HELD / max(1.0, self.costs.unit_bytes, self.result_bytes)
        enough = AHEAD * sum(worker.threads for worker in workers)
        wanted = max(int(min(READ_AHEAD * speed, fitting)), enough)
        # how many items are read whose results are not there, or there and not taken
        held = self.missing_items if self.job.taken is None else self.read - self.job.taken()
        if self.pool.load < wanted and held <= NOT_TAKEN * wanted:
            self.reading = True
            self.group.create_task(self._read_on(wanted))

    async def _show_work(self) -> None:
        """Show the engine again and again how much there is to do, so that a cluster may grow."""
        while True:
            await asyncio.sleep(SHOW_EVERY)
            workers = list(self.engine.workers.values())
            threads = sum(worker.threads for worker in workers)
            known = [worker for worker in workers if self.knows(worker)]
            seconds = None
            if known:
                speed = sum(self.costs.speed(worker.name) for worker in known)
                each = self.item * sum(worker.threads for worker in known) / speed
                seconds = self.missing_items * each
            self.engine.show_load(seconds, self.missing_items, threads)

    async def _read_on(self, count: int) -> None:
        assert isinstance(self.items, Stream)
        self.expect(await asyncio.to_thread(self.items.read, count, PATIENCE))
        self.reading = False
        self.changed.set()

    def _start(self, chunk: Chunk) -> None:
        self.backlog.add(chunk)
        self.open[chunk] = self.group.create_task(self._deliver(chunk))

    async def _wait(self) -> None:
        """Wait until something happens, or others can do what somebody holds that is busy."""
        late = self.balance.look() if self.order is None else math.inf
        try:
            async with asyncio.timeout(None if late == math.inf else late):
                await self.changed.wait()
        except TimeoutError:
            pass

    def _deal_alone(self) -> bool:
        """Give a worker that has nothing to do a piece of what others died of, if there is any."""
        if not self.suspects:
            return False
        busy = {chunk.worker for chunk in self.open}
        names = self._in_time()
        idle = [name for name in names if name not in busy]
        found = self.suspects.next(names, idle, others=bool(self.pool))
        if found is not None:
            self._start(self._chunk(*found, alone=True))
        return found is not None

    def _in_time(self) -> list[str]:
        """Return the workers none of whose chunks others do, too, for being late."""
        late = {chunk.worker for chunk in self.open if chunk.again}
        return [name for name in self.engine.workers if name not in late]

    def _deal(self) -> bool:
        """Give a piece of the pool to the worker that will be idle first, if any has room."""
        if not self.pool:
            return False
        begun = time.perf_counter()
        alone = {chunk.worker for chunk in self.open if chunk.alone}
        names = self._in_time()
        kept = {*alone, self.suspects.reserved(names)}
        found = self.sizes.next([name for name in names if name not in kept])
        self.planning += time.perf_counter() - begun
        if found is not None:
            self._start(self._chunk(*found))
        return found is not None

    def _chunk(self, name: str, taken: Range, *, alone: bool = False) -> Chunk:
        self._next_item += 1
        units = self.items.load_of(taken.low, taken.high)
        return Chunk(self._next_item - 1, name, taken, units, alone=alone)

    async def _deliver(self, chunk: Chunk) -> None:
        """Carry a chunk through: send, compute, return."""
        order, worker = self.order, None
        try:
            if order is not None:
                await order.turn(Activity.SEND, chunk.item)
            worker = self.engine.workers.get(chunk.worker)
            if worker is None:
                raise WorkerLost(chunk.worker)
            packed = await self.engine.pack(worker, self.items, chunk.range.low, chunk.range.high)
            self.backlog.heard(chunk.worker)  # it may have waited for futures
            chunk.sent = True
            await self._carry_out(chunk, worker, packed)
        except WorkerLost:
            log.info("chunk %d is lost with worker %s", chunk.item, chunk.worker)
            if not chunk.again:
                self._lost(chunk, worker)
        finally:
            self._over(Activity.SEND, chunk)
            self._over(Activity.RETURN, chunk)
            self.backlog.remove(chunk)
            del self.open[chunk]
            self.changed.set()

    def _over(self, activity: Activity, chunk: Chunk) -> None:
        if self.order is not None:
            self.order.done(activity, chunk.item)

    async def _carry_out(self, chunk: Chunk, worker: WorkerInfo, packed: Packed) -> None:
        engine, record, name = self.engine, self.record, chunk.worker
        held = await engine.send(worker, packed, apart=self.order is not None or self.sizes.many)
        self._over(Activity.SEND, chunk)
        record.transfer("send", name, chunk.item, chunk.units, held.window)
        self.costs.sent(name, chunk.units, packed.bytes, held.window.seconds)
        self._reached.add(worker.address)
        tasks = engine.start(held, -chunk.item)
        try:
            chunk.key, chunk.running = held.key, len(tasks)
            self.backlog.arrived(chunk)
            self.changed.set()
            outcomes, known, window = await self._computed(chunk, worker, tasks)
        finally:
            engine.release(held.future, *tasks)
        units = sum(self.items.load_of(*row) for one in outcomes for row in one.rows)
        if units:
            record.transfer("return", name, chunk.item, units, window)
            start, end = min(o.start for o in outcomes), max(o.end for o in outcomes)
            within = Window(held.window.end, known)
            record.computed(Computation(name, chunk.item, units, start, end, within))
            busy = sum(o.end - o.start for o in outcomes) / worker.threads
            self.costs.done(name, units, busy, window.seconds)
        self.backlog.heard(name)
        self._take(chunk, outcomes)

    async def _computed(
        self, chunk: Chunk, worker: WorkerInfo, tasks: list[Any]
    ) -> tuple[list[Outcome], float, Window]:
        """Wait for a chunk's tasks; return what they bring, when they were done, and the return."""

        def each_done(running: int) -> None:
            chunk.running = running
            self.changed.set()

        done = await self.engine.finished(worker, tasks, each_done)
        self.backlog.remove(chunk)
        self.changed.set()
        if self.order is not None:
            await self.order.turn(Activity.RETURN, chunk.item)
        outcomes, window = await self.engine.fetch(worker, tasks)
        return outcomes, done, window

    def _take(self, chunk: Chunk, outcomes: Sequence[Outcome]) -> None:
        """Put results where they belong, but for those that others have brought before."""
        for outcome in outcomes:
            place, took = 0, _seconds_of(outcome)
            for first, last in outcome.rows:
                for start, end in self.gaps(first, last):
                    self.failures += [
                        replace(one, first=max(one.first, start), last=min(one.last, end - 1))
                        for one in outcome.failures
                        if one.first < end and one.last >= start
                    ]
                    offset = place - first
                    self.note(chunk.worker, start, took[start + offset : end + offset])
                    self.arrived(start, outcome.values[start + offset : end + offset])
                place += last - first
        if not chunk.again:
            self.give_back(chunk)  # taken back, if the worker's answer is yet to come
        if self.learning is None and all(map(self.knows, self.engine.workers.values())):
            self.learning = time.time()
        self._done[chunk.worker] = self._done.get(chunk.worker, 0) + sum(
            last - first for one in outcomes for first, last in one.rows
        )
        self.job.tell(self.share, f"chunk {chunk.item} of {chunk.worker}{self._items_done()}")

    def _items_done(self) -> str:
        """Say how many items each worker has done, where they are few."""
        if len(self._done) > SHOWN:
            return ""
        return "; items: " + ", ".join(
            f"{name}: {self._done[name]:,}" for name in sorted(self._done)
        )

    def _lost(self, chunk: Chunk, worker: WorkerInfo | None) -> None:
        """Give what is missing of a lost chunk to others, or find out whether it is to blame."""
        blamed = chunk.sent and worker is not None and not worker.retired
        reached = worker is not None and worker.address in self._reached
        if not blamed or not (chunk.came or chunk.alone or not reached):
            self.give_back(chunk)
            return
        for missing in self.missing(chunk):
            given_up = self.suspects.blame(missing, alone=chunk.alone and len(chunk.range) == 1)
            if given_up is not None:
                self._give_up(given_up)

    def _give_up(self, one: Range) -> None:
        """Leave items without results, on which workers died again and again."""
        error = ExecutionError(f"{one.losses} workers died while they had it")
        self.failures.append(Failure(one.low, one.high - 1, error, str(error)))
        self.arrived(one.low, [None] * len(one))

    def _changed(self, worker: WorkerInfo) -> None:
        if worker.gone.is_set():
            self._say_gone(worker.name, worker.why)
        else:
            self.events.append(f"worker {worker.name} joined")
            for name, known in self.job.recall({worker.name: worker}).known.items():
                self.costs.known.setdefault(name, known)
        self.changed.set()

    def _say_gone(self, name: str, how: str) -> None:
        units = self.backlog.load(name)
        self.events.append(f"worker {name} {how}; its {units:g} units go to others")


def _seconds_of(outcome: Outcome) -> array[float]:
    """Return the seconds of each item; of a batch, an equal share."""
    if outcome.seconds:
        found = array("f")
        found.frombytes(outcome.seconds)
        return found
    count = sum(last - first for first, last in outcome.rows)
    return array("f", [(outcome.end - outcome.start) / max(1, count)]) * count


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error of a group of groups."""
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
