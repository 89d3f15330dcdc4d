"""A run: chunks to workers, and what becomes of those that get lost or are late."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from makespan.core.errors import ExecutionError
from makespan.core.schedule import Activity
from makespan.execute.dask.cluster.crew import Crew, Member, WorkerLost
from makespan.execute.dask.cluster.items import Stream
from makespan.execute.dask.cluster.transfers import Packed, Traffic, Window
from makespan.execute.dask.maps.backlog import AHEAD, Backlog, Chunk, next_piece
from makespan.execute.dask.maps.costs import FIRST, Costs
from makespan.execute.dask.maps.job import Job
from makespan.execute.dask.maps.pool import MAX_LOSSES, Pool, Range
from makespan.execute.dask.maps.record import Computation, Record
from makespan.execute.outcome import Failure, Outcome

MAX_BOUND = 0.05  # of the work, that is ahead of a worker
AMPLE = 3.0  # times what is worth a message: more only makes the end ragged
LONG = 1.0  # seconds of an item, from which one of them waits on a worker, not two
READ_AHEAD = 2.0  # seconds of work that are read of a stream
PATIENCE = 0.1  # seconds for which more items are waited for, where some are there
HELD = 4  # times as much may be read and not taken yet

log = logging.getLogger("makespan")


class Run:
    """One run of a job.

    Whatever lies in the pool is dealt out: a worker with fewer than two chunks ahead of it gets a
    piece whose size follows from what is known of all workers' costs, and from what is left.

    Parameters
    ----------
    job
        What to run.
    crew, traffic
        The workers, and what goes to them.
    record
        Where activities are noted.
    costs
        What is known of the workers' costs; it learns.
    """

    def __init__(
        self, job: Job, crew: Crew, traffic: Traffic, record: Record, costs: Costs
    ) -> None:
        self.job, self.crew, self.traffic, self.record = job, crew, traffic, record
        self.items, self.order, self.costs = job.items, job.order, costs
        self.pool = Pool(self.items)
        self.pieces: dict[int, Any] = {}
        self.keep = job.keep or self.pieces.__setitem__
        self.failures = job.failures
        self.events: list[str] = []
        self.learning: float | None = None  # when every worker had returned something
        self.planning = 0.0  # seconds
        self._next_item = 0
        self._missing = 0
        self._reading = False
        self._here = bytearray()
        self._open: dict[Chunk, asyncio.Task[None]] = {}
        self._backlog = Backlog()
        self._changed = job.changed
        self._group = asyncio.TaskGroup()

    async def go(self) -> None:
        """Run the chunks of the plan, and deal out all else, to the end."""
        chunks = self.job.chunks
        self.crew.joined, self.crew.left = self._joined, self._left
        self._next_item = max((chunk.item + 1 for chunk in chunks), default=0)
        self._expect(len(self.items), pool=not chunks)
        try:
            async with self._group:
                for chunk in chunks:
                    self._start(chunk)
                for name in dict.fromkeys(chunk.worker for chunk in chunks):
                    if name not in self.crew.members:
                        self._say_gone(name, "is not there")
                while self._missing or not self._ended:
                    self._changed.clear()
                    if not self.crew.members:
                        await self._wait_for_a_worker()
                        continue
                    self._read()
                    if not self._deal():
                        await self._wait()
                for task in self._open.values():  # their items came from others
                    task.cancel()
        except BaseExceptionGroup as group:
            raise _first(group) from None
        finally:
            self.crew.joined = self.crew.left = None

    @property
    def _ended(self) -> bool:
        return not isinstance(self.items, Stream) or (self.items.ended and not self._reading)

    def _expect(self, count: int, *, pool: bool = True) -> None:
        """Note that so many more results are needed, of items that lie in the pool."""
        first = len(self._here)
        self._here += bytes(count)
        self._missing += count
        if pool:
            self.pool.put(Range(first, first + count))

    def _read(self) -> None:
        """Read more of a stream, where little of it is left and results are taken."""
        if self._ended or self._reading:
            return
        members = self.crew.members.values()
        speed = sum(self.costs.speed(member.name) for member in members if self._knows(member))
        wanted = max(int(READ_AHEAD * speed), AHEAD * sum(member.threads for member in members))
        if self.pool.load < wanted and self._missing_or_held() <= HELD * wanted:
            self._reading = True
            self._group.create_task(self._read_on(wanted))

    def _missing_or_held(self) -> int:
        """Return how many items are read whose results are not there, or there and not taken."""
        taken = self.job.taken
        return self._missing if taken is None else len(self._here) - taken()

    async def _read_on(self, count: int) -> None:
        assert isinstance(self.items, Stream)
        self._expect(await asyncio.to_thread(self.items.read, count, PATIENCE))
        self._reading = False
        self._changed.set()

    def _knows(self, member: Member) -> bool:
        return self.costs[member.name].largest > 0.0

    def _start(self, chunk: Chunk) -> None:
        self._backlog.add(chunk)
        self._open[chunk] = self._group.create_task(self._deliver(chunk))

    async def _wait(self) -> None:
        """Wait until something happens, or somebody is late whose work others can do."""
        idle = any(not self._backlog.of(name) for name in self.crew.names)
        idle = idle and self.order is None and (self._ended or not self.pool)
        late = self._do_again() if idle else math.inf
        try:
            async with asyncio.timeout(None if late == math.inf else max(0.0, late)):
                await self._changed.wait()
        except TimeoutError:
            pass

    def _do_again(self) -> float:
        """Give what late workers hold to others; return in how many seconds the next is late."""
        following = math.inf
        for name in dict.fromkeys(chunk.worker for chunk in self._open):
            chunks = [
                one for one in self._open if one.worker == name and one.sent and not one.again
            ]
            if not chunks:
                continue
            late = self._backlog.late_in(name, self.costs.due(name, chunks[0].units))
            if late > 0.0:
                following = min(following, late)
                continue
            following = 0.0
            for chunk in chunks:
                chunk.again = True
                self._give_back(chunk, chunk.range.losses)
            units = sum(chunk.units for chunk in chunks)
            self.events.append(f"worker {name} is late; its {units:g} units go to others, too")
        return following

    def _deal(self) -> bool:
        """Give a piece of the pool to the worker that will be idle first, if any has room."""
        if not self.pool:
            return False
        begun = time.perf_counter()
        costs, backlog = self.costs, self._backlog
        late = {chunk.worker for chunk in self._open if chunk.again}
        names = [name for name in self.crew.names if name not in late]
        free = [name for name in names if backlog.has_room(name, long=self._long(name))]
        if not free:
            return False
        speeds = {name: costs.speed(name) for name in names}
        left = {name: backlog.left(name, speeds[name]) for name in names}
        least = {name: costs.least(name, len(names)) for name in names}
        found = next_piece(self.pool.load, free, left, speeds, least)
        self.planning += time.perf_counter() - begun
        if found is not None:
            name, amount = found
            most = max(least[name], costs.in_time(name, left[name]))
            self._start(self._chunk(name, min(amount, most, self._most(name, least[name]))))
        return found is not None

    def _units(self, name: str) -> float:
        """Return the units of an item for each thread of a worker."""
        items = self.items
        return self.crew.members[name].threads * items.load_of(0, len(items)) / len(items)

    def _long(self, name: str) -> bool:
        """Whether a worker's items take long, or nobody knows."""
        return self.costs.due(name, self._units(name)) > LONG

    def _most(self, name: str, least: float) -> float:
        """Return how many units a chunk for a worker holds at most."""
        one = self._units(name)
        first = one if not self._backlog.of(name) else FIRST * one
        bound = MAX_BOUND / AHEAD * self.items.load
        bound = min(bound, max(bound / 2, AMPLE * least))
        return min(self.costs.most(name, first), max(one, bound))

    def _chunk(self, name: str, units: float) -> Chunk:
        taken = self.pool.take(units, self.job.batch_size)
        self._next_item += 1
        return Chunk(self._next_item - 1, name, taken, self.items.load_of(taken.low, taken.high))

    async def _wait_for_a_worker(self) -> None:
        self.job.tell(self._share, "no worker is left; waiting for one")
        await self.crew.wait_for_one()

    async def _deliver(self, chunk: Chunk) -> None:
        """Carry a chunk through: send, compute, return."""
        order = self.order
        try:
            if order is not None:
                await order.turn(Activity.SEND, chunk.item)
            member = self.crew.member(chunk.worker)
            low, high = chunk.range.low, chunk.range.high
            packed = await self.traffic.pack(member, self.items, low, high)
            self._backlog.heard(chunk.worker)  # it may have waited for futures
            chunk.sent = True
            await self._carry_out(chunk, member, packed)
        except WorkerLost:
            self._lost(chunk)
        finally:
            self._over(Activity.SEND, chunk)
            self._over(Activity.RETURN, chunk)
            self._backlog.remove(chunk)
            del self._open[chunk]
            self._changed.set()

    def _over(self, activity: Activity, chunk: Chunk) -> None:
        if self.order is not None:
            self.order.done(activity, chunk.item)

    async def _carry_out(self, chunk: Chunk, member: Member, packed: Packed) -> None:
        traffic, record, name, units = self.traffic, self.record, chunk.worker, chunk.units
        held = await traffic.send(member, packed)
        self._over(Activity.SEND, chunk)
        record.transfer("send", name, chunk.item, units, held.window)
        self.costs.sent(name, units, packed.bytes, held.window.seconds)
        tasks = traffic.start(held, -chunk.item)
        self._backlog.arrived(chunk)
        self._changed.set()
        known = await traffic.finished(member, tasks)
        self._backlog.remove(chunk)
        self._changed.set()
        if self.order is not None:
            await self.order.turn(Activity.RETURN, chunk.item)
        outcomes, window = await traffic.fetch(member, tasks)
        traffic.release(held.future, *tasks)
        record.transfer("return", name, chunk.item, units, window)
        start, end = min(o.start for o in outcomes), max(o.end for o in outcomes)
        within = Window(held.window.end, known)
        record.computed(Computation(name, chunk.item, units, start, end, within))
        busy = sum(o.end - o.start for o in outcomes) / len(outcomes)
        self._backlog.heard(name)
        self.costs.done(name, units, busy, window.seconds)
        self._take(chunk, outcomes)

    def _take(self, chunk: Chunk, outcomes: Sequence[Outcome]) -> None:
        """Put results where they belong, but for those that others have brought before."""
        low, count, parts = chunk.range.low, len(chunk.range), len(outcomes)
        for part, outcome in enumerate(outcomes):
            first, last = low + part * count // parts, low + (part + 1) * count // parts
            for start, end in self._gaps(first, last):
                self.failures += [
                    replace(one, first=max(one.first, start), last=min(one.last, end - 1))
                    for one in outcome.failures
                    if one.first < end and one.last >= start
                ]
                self._arrived(start, outcome.values[start - first : end - first])
        if self.learning is None and all(map(self._knows, self.crew.members.values())):
            self.learning = time.time()
        self.job.tell(self._share, f"chunk {chunk.item} of {chunk.worker}")

    def _gaps(self, low: int, high: int) -> list[tuple[int, int]]:
        """Return where results are missing from ``low`` up to ``high``."""
        gaps = []
        while (start := self._here.find(0, low, high)) >= 0:
            low = self._here.find(1, start, high)
            gaps.append((start, high if low < 0 else low))
            if low < 0:
                break
        return gaps

    def _arrived(self, low: int, values: Any) -> None:
        """Keep results that were missing."""
        high = low + len(values)
        self.keep(low, values)
        self._here[low:high] = bytes([1]) * len(values)
        self._missing -= len(values)
        self.pool.discard(low, high)
        if isinstance(self.items, Stream):
            self.items.drop(low, high)

    @property
    def _share(self) -> float:
        return 1.0 - self._missing / max(1, len(self._here))

    def _lost(self, chunk: Chunk) -> None:
        """Give what is missing of a lost chunk back, or give it up."""
        losses = chunk.range.losses + chunk.sent
        log.info("chunk %d is lost with worker %s", chunk.item, chunk.worker)
        if not chunk.again:
            self._give_back(chunk, losses)

    def _give_back(self, chunk: Chunk, losses: int) -> None:
        for low, high in self._gaps(chunk.range.low, chunk.range.high):
            if losses < MAX_LOSSES:
                self.pool.put(Range(low, high, losses))
                continue
            error = ExecutionError(f"{losses} workers died while they had it")
            self.failures.append(Failure(low, high - 1, error, str(error)))
            self._arrived(low, [None] * (high - low))

    def _joined(self, member: Member) -> None:
        self.events.append(f"worker {member.name} joined")
        self._changed.set()

    def _left(self, member: Member) -> None:
        self._say_gone(member.name, member.why)
        self._changed.set()

    def _say_gone(self, name: str, how: str) -> None:
        units = self._backlog.load(name)
        self.events.append(f"worker {name} {how}; its {units:g} units go to others")


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error of a group of groups."""
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
