"""Runs on workers that are not there, on a clock that jumps: what a run would take, exactly.

``simulated(durations, workers=4)`` deals items out by the real runner; sending, computing and
returning take virtual seconds. Workers share their chunks by the code that travels to real ones.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import selectors
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

from makespan.execute import remote
from makespan.execute.dask.cluster.crew import Member, WorkerLost
from makespan.execute.dask.cluster.inputs import function_as_sent
from makespan.execute.dask.cluster.items import Items
from makespan.execute.dask.cluster.transfers import Held, Packed, Window
from makespan.execute.dask.maps import backlog, balance, runner
from makespan.execute.dask.maps.costs import Costs
from makespan.execute.dask.maps.job import Job
from makespan.execute.dask.maps.record import Record
from makespan.execute.dask.maps.runner import Run
from makespan.execute.outcome import Outcome

MESSAGE = 0.002  # seconds from the client to a worker, or back
PER_CALL = 0.001  # seconds of the client for each of them


class _Clock(selectors.SelectSelector):
    """Never waits: the time is what somebody waits for."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        ready = super().select(0)
        if not ready and timeout:
            self.now += timeout
        return ready


class Simulation:
    """Workers with so many threads that compute items in so many seconds, by a virtual clock.

    ``dies`` says of an item whether its worker dies of it, and ``reborn`` after how many seconds
    another of its name joins; ``there`` at which second the futures are there that
    a chunk holds which begins with an item.
    """

    def __init__(
        self,
        durations: Sequence[float],
        workers: int,
        threads: int = 1,
        dies: Callable[[int], bool] = lambda item: False,
        reborn: float = 1.0,
        there: Callable[[int], float] = lambda first: 0.0,
    ) -> None:
        self.there = there
        self.durations, self.threads, self.dies, self.reborn = durations, threads, dies, reborn
        self.items = Items(range(len(durations)))
        self.calls: list[int] = []  # items whose computation began, in this order
        self.deaths: list[str] = []
        self.questions = 0
        self.members = {f"w{n}": Member(f"w{n}", f"a{n}", threads) for n in range(workers)}
        self.joined: Callable[[Member], None] | None = None
        self.left: Callable[[Member], None] | None = None
        self.load = SimpleNamespace(show=lambda *amounts: None)
        self._busy_until = 0.0
        self._number = itertools.count()
        self._free = {one.address: threads for one in self.members.values()}
        self._queues: dict[str, list[Any]] = {address: [] for address in self._free}
        self._addresses = itertools.count(workers)

    # what a run asks of its crew

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.members)

    def member(self, name: str) -> Member:
        if name not in self.members:
            raise WorkerLost(name)
        return self.members[name]

    async def wait_for_one(self, tasks: int = 1) -> None:
        while not self.members:
            await asyncio.sleep(0.05)

    async def take_back(self, member: Member, chunks: Any, kept: float) -> Any:
        self.questions += 1
        await self._message(2 * MESSAGE, member)
        with mock.patch.object(remote.time, "time", self._time):
            found = remote.taken_back(chunks, kept)
        await self._message(2 * MESSAGE, member)
        return found

    # and of its traffic

    async def pack(self, member: Member, items: Any, low: int, high: int) -> Packed:
        await asyncio.sleep(max(0.0, self.there(low) - self._time()))
        if member.gone.is_set():
            raise WorkerLost(member.name)
        return Packed(low, high, None, 100, {})

    async def send(self, member: Member, packed: Packed, *, apart: bool) -> Held:
        begun, key = self._time(), f"{id(self)}-{next(self._number)}"
        if apart:
            await self._message(2 * MESSAGE, member)
        return Held(member, key, packed, None, Window(begun, self._time()))

    def start(self, held: Held, priority: int) -> list[Any]:
        address, tasks = held.member.address, []
        for _ in range(min(held.member.threads, held.packed.high - held.packed.low)):
            done = asyncio.get_running_loop().create_future()
            entry = -priority, next(self._number), held, done
            asyncio.get_running_loop().call_later(2 * MESSAGE, self._queue, address, entry)
            tasks.append(done)
        return tasks

    async def finished(self, member: Member, tasks: list[Any], each: Any) -> float:
        running = set(tasks)
        while running:
            gone = asyncio.ensure_future(member.gone.wait())
            done, rest = await asyncio.wait({*running, gone}, return_when="FIRST_COMPLETED")
            gone.cancel()
            if gone in done:
                raise WorkerLost(member.name)
            running = rest - {gone}
            each(len(running))
        await self._message(2 * MESSAGE, member)
        return self._time()

    async def fetch(self, member: Member, tasks: list[Any]) -> tuple[list[Outcome], Window]:
        begun = self._time()
        await self._message(2 * MESSAGE, member)
        return [task.result() for task in tasks], Window(begun, self._time())

    def release(self, *futures: Any) -> None:
        """Nothing is kept."""

    # the workers

    def _time(self) -> float:
        return asyncio.get_running_loop().time()

    async def _message(self, seconds: float, member: Member) -> None:
        """Wait until a message has gone through the client, and to or from a worker."""
        self._busy_until = max(self._busy_until, self._time()) + PER_CALL
        await asyncio.sleep(self._busy_until - self._time() + seconds)
        if member.gone.is_set():
            raise WorkerLost(member.name)

    def _queue(self, address: str, entry: Any) -> None:
        if address in self._queues:
            heapq.heappush(self._queues[address], entry)
            self._next(address)

    def _next(self, address: str) -> None:
        while self._free.get(address) and self._queues[address]:
            self._free[address] -= 1
            _, _, held, done = heapq.heappop(self._queues[address])
            work = asyncio.ensure_future(self._work(address, held, done))
            self._working.add(work)
            work.add_done_callback(self._working.discard)

    async def _work(self, address: str, held: Held, done: asyncio.Future[Any]) -> None:
        begun, places = self._time(), []
        share = remote._share(held.key, held.packed.low, held.packed.high)
        while True:
            with mock.patch.object(remote.time, "time", self._time):
                taken = share.take()
            if not taken:
                break
            self.calls.append(taken.start)
            await asyncio.sleep(self.durations[taken.start])
            if address not in self._free:
                return
            if self.dies(taken.start):
                self._die(held.member)
                return
            places.append(taken.start)
        self._free[address] += 1
        if not done.done():
            done.set_result(Outcome(remote._rows(places), places, (), begun, self._time()))
        self._next(address)

    def _die(self, member: Member) -> None:
        self.deaths.append(member.name)
        del self._free[member.address], self._queues[member.address]
        loop = asyncio.get_running_loop()
        loop.call_later(0.1, self._gone, member)
        loop.call_later(self.reborn, self._join, member.name)

    def retire(self, name: str) -> None:
        """Send a worker away in the middle of its work."""
        member = self.members[name]
        member.retired = True
        del self._free[member.address], self._queues[member.address]
        self._gone(member)

    def _gone(self, member: Member) -> None:
        if self.members.get(member.name) is member:
            del self.members[member.name]
            member.gone.set()
            if self.left is not None:
                self.left(member)

    def _join(self, name: str) -> None:
        if name in self.members:
            self._gone(self.members[name])
        member = Member(name, f"a{next(self._addresses)}", self.threads)
        self.members[name] = member
        self._free[member.address], self._queues[member.address] = self.threads, []
        if self.joined is not None:
            self.joined(member)

    def go(self, costs: Costs | None = None, meanwhile: Any = None) -> tuple[Run, float]:
        """Run to the end; return the run, and how many seconds it took."""
        clock = _Clock()
        loop = asyncio.SelectorEventLoop(clock)
        loop.time = lambda: clock.now  # type: ignore[method-assign]
        fake = SimpleNamespace(
            time=loop.time, monotonic=loop.time, perf_counter=loop.time, sleep=None
        )
        self._working: set[asyncio.Future[None]] = set()

        async def all_of_it() -> Run:
            job = Job(
                function=function_as_sent(abs),
                items=self.items,
                batched=False,
                tell=lambda share, what: None,
                recall=lambda members: Costs(),
            )
            run = Run(job, self, self, Record(["client"]), costs or Costs())  # type: ignore[arg-type]
            if meanwhile is not None:
                loop.call_later(*meanwhile)
            await run.go()
            return run

        with _all(mock.patch.object(each, "time", fake) for each in (backlog, balance, runner)):
            try:
                run = loop.run_until_complete(all_of_it())
                took = clock.now
            finally:
                for task in asyncio.all_tasks(loop):
                    task.cancel()
                loop.run_until_complete(asyncio.sleep(0))
                loop.close()
        return run, took


@contextmanager
def _all(patches: Any) -> Any:
    patches = list(patches)
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


def client_map(durations: Sequence[float], slots: int) -> float:
    """Return what ``client.map`` takes: the next item to the next idle thread."""
    free = [5 * MESSAGE] * slots
    for number, seconds in enumerate(durations):
        begun = max(heapq.heappop(free), 0.0004 * number)
        heapq.heappush(free, begun + seconds + 0.0005)
    return max(free) + 3 * MESSAGE
