"""Orders → answers, by a few processes that are kept warm, may die, and are then replaced."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Self

from makespan.core.system import memory
from makespan.core.system.subprocesses import Child, own_folder
from makespan.studio.orders import Answer, Notice, Order, Stop, Warm, refused
from makespan.studio.worker import Worker

WAITING = 64  # orders that may wait
READING = 20.0  # seconds for what has no limit of its own, and until one is told
BEYOND = 15.0  # seconds beyond its limit until an order is overdue: libraries may be imported
COLD = 30.0  # seconds that first uses may take beside that, in a process that is not warm yet
STARTUP = 120.0  # seconds that compiling and importing may take beside that
PATIENCE = 5.0  # seconds for a process to come to an end when it was asked to
WATCH = 0.1  # seconds between two looks at the processes
FAILURES = 3  # processes that end before they are ready, until no more are started
NICER = 10  # by what those are nicer, in the system's count, that take what is slow
SHARE = 0.6  # of the memory that is free, for all processes together
LARGEST = 4 * 2**30  # bytes that one may hold
ENDING = "the server is ending"


class _Job:
    """An order, and who waits for its answer."""

    def __init__(
        self, order: Order, client: str | None, told: Callable[[Any], None], slow: bool
    ) -> None:
        self.order, self.client, self.told, self.slow = order, client, told, slow
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.until = 0.0  # when it is overdue, but for start-up
        self.starting: float | None = None  # since when the process compiles or imports
        self.left = self.stopped = False

    def overdue(self, now: float) -> bool:
        return now > (self.until if self.starting is None else self.starting + STARTUP)

    def end(self, answer: Answer) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)


class _Place:
    """Where one process is, and what it is at.

    ``kept`` says whether it is for quick orders alone: it gives way to nobody, the others to it.
    """

    def __init__(self, folder: Path, slot: int, *, kept: bool) -> None:
        self.errors, self.kept = folder / f"errors{slot}", kept
        self.child: Child
        self.job: _Job | None = None
        self.ready = self.warm = self.warming = False

    def allows(self, seconds: float) -> float:
        """Return when these seconds, and what first uses may take, will be over."""
        return time.monotonic() + seconds + (0.0 if self.warm else COLD)


class Pool:
    """Processes that answer one order each at a time; others wait, in their order.

    There are ``size`` of them, each of which may hold ``most`` bytes; None for a share of what is
    free now. At most ``waiting`` orders wait; more are refused. ``make`` makes what a process is
    there for, from the bytes that it may hold, and by how much nicer it is than this process.

    An asynchronous context manager, of one event loop.
    """

    def __init__(
        self,
        size: int,
        *,
        most: float | None = None,
        waiting: int = WAITING,
        make: Callable[[float, int], Any] = Worker,
    ) -> None:
        self.size, self.waiting, self.make = size, waiting, make
        self.most = most or min(LARGEST, SHARE * memory.available() / size)
        self.failures, self._ending = 0, False
        self._numbers = count(1)
        self._queue: deque[_Job] = deque()
        self._places: list[_Place] = []

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._folder = own_folder()
        folder, several = Path(self._folder.name), self.size > 1
        self._places = [
            _Place(folder, slot, kept=several and slot == 0) for slot in range(self.size)
        ]
        for place in self._places:
            self._start(place)
        self._watching = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._watching.cancel()
        self._refuse_all()
        places, self._places = self._places, []
        for place in places:
            place.child.popen.kill()
        for place in places:
            place.child.reap()
        self._folder.cleanup()

    async def answer(
        self,
        what: str,
        body: bytes,
        *,
        client: str | None = None,
        told: Callable[[Any], None] = lambda _: None,
        slow: bool = False,
    ) -> Answer:
        """Return the answer to an order; cancelling this ends the work on it.

        ``what`` is one of ``makespan.studio.answers.ANSWERS``, ``body`` the text of the request. A
        newer order of the same ``client`` ends an older one. ``told`` is called with what is told
        of its progress. ``slow``: it may take long; one process is kept for what is not slow.
        """
        for job in self._jobs() if client is not None else ():
            if job.client == client:
                job.end(refused(409, "a newer request of the same client took its place"))
                self._leave(job)
        if self._ending:
            return refused(503, ENDING)
        if self.failures >= FAILURES:
            return refused(503, "the processes that solve can't be started")
        if len(self._queue) >= self.waiting:
            return refused(503, f"{len(self._queue)} requests wait already; try again soon")
        job = _Job(Order(next(self._numbers), what, body), client, told, slow)
        self._queue.append(job)
        self._turn()
        try:
            return await job.answer
        finally:
            self._leave(job)

    def stop(self, client: str) -> bool:
        """Let what a client waits for come to an end with the best so far; whether there is any."""
        found = [job for job in self._jobs() if job.client == client]
        for job in found:
            self._stop(job)
        return bool(found)

    def end(self) -> None:
        """Answer nothing any more; may be called from anywhere, a signal's handler, too."""
        with contextlib.suppress(AttributeError, RuntimeError):  # not begun, or ended already
            self._loop.call_soon_threadsafe(self._refuse_all)

    def _refuse_all(self) -> None:
        self._ending = True
        for job in self._jobs():
            job.end(refused(503, ENDING))

    def _jobs(self) -> list[_Job]:
        return [*self._queue, *(place.job for place in self._places if place.job)]

    def _leave(self, job: _Job) -> None:
        """Nobody waits for this any more."""
        if job in self._queue:
            self._queue.remove(job)
        elif not job.left:
            job.left = True
            self._stop(job)

    def _stop(self, job: _Job) -> None:
        job.stopped = True
        for place in self._places:
            if place.job is job:
                place.child.send(Stop(job.order.number, job.left))
                job.until = min(job.until, place.allows(PATIENCE))

    def _turn(self) -> None:
        """Give those who are free what waits; those that are getting warm as the last."""
        for place in sorted(self._places, key=lambda place: place.warming):
            job = self._next(place) if place.ready and place.job is None else None
            if job is not None:
                self._queue.remove(job)
                place.job, job.until = job, place.allows(READING)
                self._loop.run_in_executor(None, place.child.send, job.order)  # pipes may be full
                if job.stopped:  # while it waited
                    place.child.send(Stop(job.order.number))

    def _next(self, place: _Place) -> _Job | None:
        """Return what waits longest, of what may begin there."""
        return next((job for job in self._queue if not (place.kept and job.slow)), None)

    def _warm(self) -> None:
        """Let one get warm at a time: what it compiles, the next finds; the others may answer."""
        cold = [place for place in self._places if place.ready and not place.warm]
        if cold and not any(place.warming for place in cold):
            cold[0].warming = True
            cold[0].child.send(Warm())

    def _start(self, place: _Place) -> None:
        place.ready = place.warm = place.warming = False
        place.job = None

        def arrived(child: Child, message: Any) -> None:  # in a thread of its own
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._arrived, place, child, message)

        nicer = 0 if place.kept or self.size == 1 else NICER
        place.child = Child(partial(self.make, self.most, nicer), arrived, place.errors)

    def _arrived(self, place: _Place, child: Child, message: Any) -> None:
        if child is not place.child or place not in self._places:
            return
        if message is None:
            self._bury(place)
        elif isinstance(message, Answer):
            if place.job is not None:
                place.job.end(message)
                place.job = None
        elif message.what == "ready":
            place.ready, self.failures = True, 0
            self._warm()
        elif message.what == "warm":
            place.warm, place.warming = True, False
            self._warm()
        elif place.job is not None:
            self._note(place, place.job, message)
        self._turn()

    def _note(self, place: _Place, job: _Job, told: Notice) -> None:
        """Note what a process tells of the order that it is at."""
        if told.what == "limit" and not job.left:
            job.until = place.allows(told.value + BEYOND)
        elif told.what == "startup" and told.value is not None:
            job.starting = job.starting or time.monotonic()
        elif told.what == "startup" and job.starting is not None:
            job.until += time.monotonic() - job.starting
            job.starting = None
        if not job.left:
            job.told(told)

    def _bury(self, place: _Place) -> None:
        """Replace a process that has ended, and say so to who waits for it."""
        status, note = place.child.death()
        words = place.child.last_words()
        place.child.reap()
        if not place.ready:
            self.failures += 1
            if self.failures >= FAILURES:
                for job in self._queue:
                    job.end(refused(503, f"the processes that solve can't be started: {words}"))
                self._queue.clear()
                return
        elif place.job is not None:
            place.job.end(_ended(status, note))
        self._start(place)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH)
            now = time.monotonic()
            for place in self._places:
                job = place.job
                if job is not None:
                    place.child.watch_memory(self.most)
                    if job.overdue(now):
                        place.child.end("overdue", "it did not end within its limit")


def _ended(status: str, note: str) -> Answer:
    if status == "out of memory":
        return refused(413, f"this takes too much memory: {note}")
    if status == "overdue":
        return refused(504, "this took too long, and was ended")
    return refused(500, "the process that solved this has died")
