"""An engine inside this process, for a clock that jumps (``virtual.py``).

Sending, asking and returning take virtual seconds; so does a function for as long as it sleeps.
Workers share their chunks by the code that travels to those of Dask.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import pickle
from collections.abc import Callable
from typing import Any

from makespan.execute import remote
from makespan.execute.dask.cluster.pickles import outcome_of, payload
from makespan.execute.dealing.engine import Held, Outcome, Packed, Window, WorkerInfo, WorkerLost
from makespan.execute.dealing.items import Items, joined

MESSAGE = 0.002  # seconds from the client to a worker, or back
PER_CALL = 0.001  # seconds of the client for each of them


class Dies(BaseException):
    """Ends the worker of the function that raises it, as a segmentation fault does."""


class InProcess:
    """Workers ``w0``, ``w1``, ... with so many threads, one of which joins again when it has died.

    ``there`` says at which second the futures are there that a chunk holds which begins with an
    item; ``reborn`` after how many seconds another worker of a dead one's name joins.
    """

    there: Callable[[int], float] = staticmethod(lambda first: 0.0)
    reborn = 1.0

    def __init__(self, workers: int = 3, threads: int = 1) -> None:
        self.threads, self.calls, self.deaths, self.questions = threads, [], [], 0
        self.workers = {f"w{n}": WorkerInfo(f"w{n}", f"a{n}", threads) for n in range(workers)}
        self.shown: list[float | None] = []
        self._changed: Callable[[WorkerInfo], None] | None = None
        self._busy_until = self._slept = 0.0
        self._number = itertools.count()
        self._free = {one.address: threads for one in self.workers.values()}
        self._queues: dict[str, list[Any]] = {address: [] for address in self._free}
        self._working: set[asyncio.Future[None]] = set()

    def does(self, function: bytes, batched: bool) -> None:
        """Take the function, pickled."""
        self._call, self._batched = pickle.loads(function).made({}, batched), batched

    def watch(self, changed: Callable[[WorkerInfo], None] | None) -> None:
        self._changed = changed

    async def wait_for_worker(self, items: int) -> None:
        while not self.workers:
            await asyncio.sleep(0.05)

    def show_load(self, seconds: float | None, items: int, threads: int) -> None:
        self.shown.append(seconds)

    async def pack(self, worker: WorkerInfo, items: Items, low: int, high: int) -> Packed:
        await self._passed(self.there(low) - self._time(), worker)
        return Packed(low, high, *payload(items, low, high))

    async def send(self, worker: WorkerInfo, packed: Packed, *, apart: bool = True) -> Held:
        begun, key = self._time(), f"{id(self)}-{next(self._number)}"
        if apart:
            await self._message(worker)
        return Held(worker, key, packed, None, Window(begun, self._time()))

    def start(self, held: Held, priority: int) -> list[Any]:
        loop, tasks = asyncio.get_running_loop(), []
        for _ in range(min(held.worker.threads, held.packed.high - held.packed.low)):
            tasks.append(loop.create_future())
            entry = -priority, next(self._number), held, tasks[-1]
            loop.call_later(2 * MESSAGE, self._queue, held.worker.address, entry)
        return tasks

    async def finished(
        self, worker: WorkerInfo, tasks: list[Any], each: Callable[[int], None] = lambda n: None
    ) -> float:
        gone, running = asyncio.ensure_future(worker.gone.wait()), set(tasks)
        while running and not gone.done():
            await asyncio.wait({*running, gone}, return_when="FIRST_COMPLETED")
            running = {task for task in running if not task.done()}
            each(len(running))
        gone.cancel()
        await self._message(worker)
        return self._time()

    async def fetch(self, worker: WorkerInfo, tasks: list[Any]) -> tuple[list[Outcome], Window]:
        begun = self._time()
        await self._message(worker)
        return [task.result() for task in tasks], Window(begun, self._time())

    def release(self, *futures: Any) -> None:
        """Nothing is kept."""

    async def take_back(self, worker: WorkerInfo, chunks: Any, kept: float) -> Any:
        self.questions += 1
        await self._message(worker)
        found = remote.taken_back(chunks, kept)
        await self._message(worker)
        return found

    def _time(self) -> float:
        return asyncio.get_running_loop().time()

    def sleep(self, seconds: float) -> None:
        self._slept += seconds

    async def _passed(self, seconds: float, worker: WorkerInfo) -> None:
        await asyncio.sleep(max(0.0, seconds))
        if worker.gone.is_set():
            raise WorkerLost(worker.name)

    async def _message(self, worker: WorkerInfo) -> None:
        """Wait until a message has gone through the client, to or from a worker, and back."""
        self._busy_until = max(self._busy_until, self._time()) + PER_CALL
        await self._passed(self._busy_until - self._time() + 2 * MESSAGE, worker)

    def _queue(self, address: str, entry: Any) -> None:
        if address in self._queues:
            heapq.heappush(self._queues[address], entry)
            self._next(address)

    def _next(self, address: str) -> None:
        while self._free.get(address) and self._queues[address]:
            self._free[address] -= 1
            work = asyncio.ensure_future(self._work(*heapq.heappop(self._queues[address])[2:]))
            self._working.add(work)
            work.add_done_callback(self._working.discard)

    async def _work(self, held: Held, done: asyncio.Future[Any]) -> None:
        worker, low, high = held.worker, held.packed.low, held.packed.high
        begun, share = self._time(), remote._share(held.key, low, high)
        size = -(-(high - low) // min(worker.threads, high - low)) if self._batched else 1
        places: list[int] = []
        pieces, failures = [], []
        while taken := share.take(size):
            self.calls += taken
            self._slept, died = 0.0, False
            try:
                with remote._given(share.items(held.packed.sent, taken.start, taken.stop)) as items:
                    each = zip(taken, items, strict=True)
                    values, failed = (
                        remote._batch(self._call, items, taken.start)
                        if self._batched
                        else remote._each(self._call, each)[1:]
                    )
            except Dies:
                died = True
            await asyncio.sleep(self._slept)
            if died and worker.address in self._free:
                self.die(worker)
            if worker.address not in self._free:
                return
            places += taken
            pieces.append(values)
            failures += failed
            size = size if not self._batched else 0
        self._free[worker.address] += 1
        if not done.done():
            rows = remote._rows(places)
            done.set_result(outcome_of(rows, joined(pieces), (*failures,), begun, self._time()))
        self._next(worker.address)

    def retire(self, name: str) -> None:
        """Send a worker away in the middle of its work."""
        worker = self.workers[name]
        worker.retired, worker.why = True, "was retired"
        self._end(worker)

    def die(self, worker: WorkerInfo) -> None:
        self.deaths.append(worker.name)
        del self._free[worker.address], self._queues[worker.address]
        asyncio.get_running_loop().call_later(0.1, self._end, worker)
        asyncio.get_running_loop().call_later(self.reborn, self.join, worker.name)

    def _end(self, worker: WorkerInfo) -> None:
        self._free.pop(worker.address, None)
        self._queues.pop(worker.address, None)
        if self.workers.get(worker.name) is worker:
            del self.workers[worker.name]
            worker.gone.set()
            if self._changed is not None:
                self._changed(worker)

    def join(self, name: str) -> None:
        """Let a worker join."""
        worker = WorkerInfo(name, f"b{next(self._number)}", self.threads)
        self.workers[name] = worker
        self._free[worker.address], self._queues[worker.address] = self.threads, []
        if self._changed is not None:
            self._changed(worker)
