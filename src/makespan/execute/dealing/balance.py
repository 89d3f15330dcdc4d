"""In the end: what waits behind other work, or is late, goes to those that have nothing to do."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Sequence

from makespan.execute.dealing.backlog import LATE, MIN_LATE, Chunk
from makespan.execute.dealing.engine import WorkerInfo
from makespan.execute.dealing.pool import Range
from makespan.execute.dealing.state import State

WORTH = 0.03  # seconds of work of others, from which asking for it pays
UNKNOWN = 0.1  # seconds of a chunk under way, where nobody knows how long it takes: the same
ASK_AGAIN = 0.02  # seconds at least between two questions to a worker
LONG = 2.0  # times as long as the costs say: so long are the others that wait, perhaps
LOOK_EVERY = 0.1  # seconds between looks whether a chunk is long, while nobody is idle
ALIVE = 60.0  # seconds for which a worker that answers is waited for, however late it is

log = logging.getLogger("makespan")


class Balance:
    """Looks after the chunks of a run while a thread of any worker has nothing to do.

    A worker that holds items that it has not begun gives a share of them back, as large as that of
    the idle threads: a chunk that turns out long is cut while it runs, and nothing is done twice.
    What a worker holds that does not answer, or is busy with one item for longer than all took
    before, is done by others, too.
    """

    def __init__(self, run: State) -> None:
        self.run, self.costs, self.backlog = run, run.costs, run.backlog
        self._began = self._looked = time.monotonic()
        self._asked: dict[str, float] = {}
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._mute: set[str] = set()  # workers that can't be asked, by address

    def idle(self) -> int:
        """Return how many threads have nothing to do."""
        workers = self.run.engine.workers.values()
        return sum(self.backlog.idle(one.name, one.threads) for one in workers)

    def look(self) -> float:
        """Take back what is worth it; return in how many seconds to look again."""
        run, idle = self.run, self.idle() > 0
        if run.pool and (not idle or not run.ended):
            return self._look_at_long()
        following = math.inf
        for name, chunks in self._held():
            worker = run.engine.workers[name]
            if idle and not run.pool:
                following = min(following, self._worth_in(worker, chunks))
            if idle:
                following = min(following, self._late_in(worker, chunks))
        return max(0.0, following)

    def _held(self) -> list[tuple[str, list[Chunk]]]:
        """Return what each worker holds that is there, or on its way."""
        held: dict[str, list[Chunk]] = {}
        for chunk in self.run.open:
            if chunk.sent and not chunk.again and chunk.worker in self.run.engine.workers:
                held.setdefault(chunk.worker, []).append(chunk)
        return list(held.items())

    def _look_at_long(self) -> float:
        """Take back, now and then, what waits behind items that take far longer than expected."""
        wait = self._looked + LOOK_EVERY - time.monotonic()
        if wait > 0.0:
            return wait
        self._looked = time.monotonic()
        for name, chunks in self._held():
            came = [one for one in chunks if one.came and not one.alone]
            due = self.costs.due(name, came[0].units) if came else math.inf
            if self.backlog.under_way(name) > LATE * due + LOOK_EVERY and self._waiting(name, came):
                self._ask(self.run.engine.workers[name], came, kept=0.0)
        return LOOK_EVERY

    def _waiting(self, name: str, chunks: Sequence[Chunk]) -> bool:
        """Whether a worker may hold what it has not begun, and may be asked for that."""
        waiting = sum(one.waiting for one in chunks)
        if not any(one.begun for one in chunks):
            waiting -= self.run.engine.workers[name].threads
        return waiting > 0 and name not in self._asking and not self._is_mute(name)

    def _is_mute(self, name: str) -> bool:
        return self.run.engine.workers[name].address in self._mute

    def stop(self) -> None:
        """Wait for no answer any more."""
        for task in self._asking.values():
            task.cancel()

    def _late_in(self, worker: WorkerInfo, chunks: Sequence[Chunk]) -> float:
        """Give what a late worker holds to others; return in how many seconds it is late."""
        name = worker.name
        late = self.backlog.late_in(name, self.costs.due(name, chunks[0].units))
        if late > 0.0:
            return late
        came = [one for one in chunks if one.came]
        if came and name not in self._asking and not self._is_mute(name):
            self._ask(worker, came, kept=1.0)
        waits = self._asked.get(name, 0.0) + MIN_LATE - time.monotonic() if came else 0.0
        if waits > 0.0:
            return waits
        self._do_again(name)
        return math.inf

    def _do_again(self, name: str) -> None:
        """Let others do what a worker holds, too."""
        held = (one for one in self.run.open if one.worker == name)
        chunks = [one for one in held if one.sent and not one.again]
        for chunk in chunks:
            chunk.again = True
            self.run.give_back(chunk)
        units = sum(chunk.units for chunk in chunks)
        self.run.events.append(f"worker {name} is late; its {units:g} units go to others, too")
        self.run.changed.set()

    def _worth_in(self, worker: WorkerInfo, chunks: Sequence[Chunk]) -> float:
        """Ask for what waits, if that is worth it; return in how many seconds it may be."""
        name, backlog = worker.name, self.backlog
        came = [one for one in chunks if one.came and not one.alone]
        if not self._waiting(name, came):
            return math.inf
        pause = self._asked.get(name, 0.0) + ASK_AGAIN - time.monotonic()
        if pause > 0.0:
            return pause
        under_way = backlog.under_way(name)
        if self.costs[name].compute:
            speed = self.costs.speed(name)
            worth = backlog.left(name, speed) / speed - WORTH
            soon = backlog.overdue_in(name, came[0].units / speed)
        else:  # as long as it has taken, probably
            worth, soon = under_way - UNKNOWN, UNKNOWN - under_way
        if worth < 0.0 and soon > 0.0:
            return soon
        idle, others = self.idle(), {one.worker for one in self.run.open if one.waiting} - {name}
        workers = self.run.engine.workers
        busy = worker.threads + sum(workers[one].threads for one in others if one in workers)
        self._ask(worker, came, kept=busy / (busy + idle))
        return math.inf

    def _ask(self, worker: WorkerInfo, chunks: Sequence[Chunk], kept: float) -> None:
        self._asked[worker.name] = time.monotonic()
        asking = self._take_back(worker, chunks, kept)
        self._asking[worker.name] = self.run.group.create_task(asking)

    async def _take_back(self, worker: WorkerInfo, chunks: Sequence[Chunk], kept: float) -> None:
        name = worker.name
        try:
            found = await self.run.engine.take_back(
                worker, [(one.key, one.range.low, one.range.high) for one in chunks], kept
            )
        except Exception as error:
            log.info("worker %s does not give anything back: %s", name, error)
            self._mute.add(worker.address)
            return
        finally:
            self._asking.pop(name, None)
            self.run.changed.set()
        busy = self.backlog.under_way(name)
        begun = sum(
            first - chunk.range.low for chunk, (first, *_) in zip(chunks, found, strict=True)
        )
        speed = self.costs.speed(name) / worker.threads
        each = max(busy / max(1, begun), *(seconds for *_, seconds in found))
        for chunk, (first, end, _) in zip(chunks, found, strict=True):
            if chunk in self.run.open and not chunk.again:
                self._cut(chunk, first, end, long=each > LONG * self.run.item / speed)
        item = max(seconds for *_, seconds in found)
        if item < max(ALIVE, time.monotonic() - item - self._began):
            self.backlog.heard(name)
        elif kept == 1.0:
            self._do_again(name)

    def _cut(self, chunk: Chunk, begun: int, end: int, *, long: bool) -> None:
        """Leave the items from ``end`` on out of a chunk; others get them."""
        run, one = self.run, chunk.range
        chunk.begun, chunk.long = begun, long
        if end >= one.high:
            return
        chunk.range = Range(one.low, end, one.losses)
        chunk.units = run.items.load_of(one.low, end)
        for low, high in run.gaps(end, one.high):
            run.pool.put(Range(low, high, long=long))
        if end == one.low:
            run.open[chunk].cancel()  # nothing of it is done any more
