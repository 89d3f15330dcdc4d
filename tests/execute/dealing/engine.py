"""An engine inside this process, for a clock that jumps (``virtual.py``).

Sending, asking and returning take virtual seconds; so does a function for as long as it sleeps.
Workers share their chunks by the code that travels to those of Dask.
"""

from __future__ import annotations

import asyncio
import itertools
import pickle
from array import array
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from makespan.execute import remote
from makespan.execute.dealing.engine import Held, Outcome, Packed, Window, WorkerInfo, WorkerLost
from makespan.execute.dealing.items import Items, joined
from makespan.execute.pickles import outcome_of, payload

MESSAGE = 0.002  # seconds from the client to a worker, or back
PER_CALL = 0.001  # seconds of the client for each of them


class Dies(BaseException):
    """Ends the worker of the function that raises it, as a segmentation fault does."""


class InProcess:
    """Workers ``0``, ``1``, ... with so many threads; one that has died joins again."""

    there: Callable[[int], float] = staticmethod(lambda first: 0.0)
    """At which second the futures are there of a chunk that begins with an item."""

    _number = itertools.count()  # of all engines: what workers remember of a chunk goes by its key

    def __init__(self, workers: int = 3, threads: int = 1) -> None:
        self.count, self.threads = workers, threads
        self.scheduler = SimpleNamespace(address=f"here-{id(self)}")  # what is learnt is kept by it
        self.calls: list[int] = []
        self.deaths: list[str] = []

    def begin(self, function: bytes, batched: bool) -> None:
        """Take the function, pickled, and let the workers join."""
        self._call, self._batched = pickle.loads(function).made({}, batched), batched
        self._busy_until = self._slept = 0.0
        self.workers: dict[str, WorkerInfo] = {}
        self._queues: dict[str, asyncio.PriorityQueue[Any]] = {}
        self._alive: dict[str, list[asyncio.Task[None]]] = {}
        self.watch(None)
        for number in range(self.count):
            self.join(str(number))

    def watch(self, changed: Callable[[WorkerInfo], None] | None) -> None:
        self._changed = changed or (lambda worker: None)

    async def wait_for_worker(self, items: int) -> None:
        while not self.workers:
            await asyncio.sleep(0.05)

    def show_load(self, seconds: float | None, items: int, threads: int) -> None:
        """Nobody else joins."""

    async def pack(self, worker: WorkerInfo, items: Items, low: int, high: int) -> Packed:
        await self._passed(self.there(low) - self._time(), worker)
        return Packed(low, high, *payload(items, low, high))

    async def send(self, worker: WorkerInfo, packed: Packed, *, apart: bool = True) -> Held:
        begun, key = self._time(), f"here-{next(self._number)}"
        if apart:
            await self._message(worker)
        return Held(worker, key, packed, None, Window(begun, self._time()))

    def start(self, held: Held, priority: int) -> list[Any]:
        loop, queue, tasks = asyncio.get_running_loop(), self._queues[held.worker.address], []
        for _ in range(min(held.worker.threads, held.packed.high - held.packed.low)):
            tasks.append(loop.create_future())
            entry = -priority, next(self._number), held, tasks[-1]
            loop.call_later(2 * MESSAGE, queue.put_nowait, entry)
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
        await self._message(worker)
        found = remote.taken_back(chunks, kept)
        await self._message(worker)
        return found

    def _time(self) -> float:
        return asyncio.get_running_loop().time()

    def sleep(self, seconds: float) -> None:
        """Take a function's time."""
        self._slept += seconds

    async def _passed(self, seconds: float, worker: WorkerInfo) -> None:
        await asyncio.sleep(max(0.0, seconds))
        if worker.gone.is_set():
            raise WorkerLost(worker.name)

    async def _message(self, worker: WorkerInfo) -> None:
        """Wait until a message has gone through the client, to or from a worker, and back."""
        self._busy_until = max(self._busy_until, self._time()) + PER_CALL
        await self._passed(self._busy_until - self._time() + 2 * MESSAGE, worker)

    async def _thread(self, worker: WorkerInfo) -> None:
        while True:
            *_, held, done = await self._queues[worker.address].get()
            begun, low, high = self._time(), held.packed.low, held.packed.high
            share = remote._share(held.key, low, high)
            parts = min(self.threads, high - low)
            places, pieces, failures, seconds = [], [], [], array("f")
            while taken := share.take(-(-(high - low) // parts) if self._batched else 1):
                (values, failed), slept = await self._called(worker, held, share, taken)
                places += taken
                seconds += array("f", [slept / len(taken)]) * len(taken)
                pieces.append(values)
                failures += failed
                if self._batched:
                    break
            found = remote._rows(places), joined(pieces), (*failures,), begun, self._time()
            found = *found, seconds.tobytes()
            if not done.done():
                done.set_result(outcome_of(*found))

    async def _called(self, worker: WorkerInfo, held: Held, share: Any, taken: range) -> Any:
        """Call the function; return what comes of it after as many seconds as it sleeps."""
        self.calls += taken
        self._slept, found = 0.0, None
        try:
            with remote._given(share.items(held.packed.sent, taken.start, taken.stop)) as items:
                if self._batched:
                    found = remote._batch(self._call, items, taken.start)
                else:
                    found = remote._each(self._call, zip(taken, items, strict=True))[1:3]
        except Dies:
            pass
        slept = self._slept
        await asyncio.sleep(slept)
        if found is None:
            self.die(worker.name)
            await asyncio.sleep(0.0)  # cancelled
        return found, slept

    def join(self, name: str) -> None:
        """Let a worker join."""
        self.workers[name] = worker = WorkerInfo(name, f"a{next(self._number)}", self.threads)
        self._queues[worker.address] = asyncio.PriorityQueue()
        threads = [asyncio.ensure_future(self._thread(worker)) for _ in range(self.threads)]
        self._alive[worker.address] = threads
        self._changed(worker)

    def retire(self, name: str) -> None:
        """Send a worker away in the middle of its work."""
        self.workers[name].retired, self.workers[name].why = True, "was retired"
        self._end(self.workers[name])

    def die(self, name: str) -> None:
        """End a worker; that is noticed after 0.1 s, and another one joins after 1 s."""
        self.deaths.append(name)
        for thread in self._alive[self.workers[name].address]:
            thread.cancel()
        asyncio.get_running_loop().call_later(0.1, self._end, self.workers[name])
        asyncio.get_running_loop().call_later(1.0, self.join, name)

    def _end(self, worker: WorkerInfo) -> None:
        for thread in self._alive[worker.address]:
            thread.cancel()
        del self.workers[worker.name]
        worker.gone.set()
        self._changed(worker)
