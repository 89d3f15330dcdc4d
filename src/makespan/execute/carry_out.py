"""A job carried out on any engine: at once, or in the background, results as they come."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import AbstractAsyncContextManager, ExitStack, suppress
from contextvars import Context
from dataclasses import replace
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, Protocol

import numpy as np

from makespan.core.errors import ExecutionError, MakespanError
from makespan.divisible.problem import DivisibleLoad
from makespan.execute.dealing.costs import MASTER_NAME
from makespan.execute.dealing.engine import Engine, Failure
from makespan.execute.dealing.items import joined
from makespan.execute.dealing.rival import OwnMap
from makespan.execute.dealing.run import Run
from makespan.execute.dealing.state import Job
from makespan.execute.dealing.transfers import Record
from makespan.execute.execution import Execution, WorkerShare, checked
from makespan.execute.loop import on_loop
from makespan.execute.pickles import refuse_unpicklable


class Place(Protocol):
    """Where jobs run: an event loop, and workers for a job."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """What everything runs on that waits for workers."""

    def trouble(self) -> str:
        """Say why nothing runs there any more; nothing where it does."""

    async def own_map(self, seconds: float, slots: int) -> OwnMap | None:
        """Return what the engine's own map is, after a run of so many seconds on so many slots."""

    def engine(self, job: Any) -> AbstractAsyncContextManager[Engine]:
        """Give the workers for a job, which end with it where they are nobody else's."""


def carried_out(place: Place, job: Job, *, keep_going: bool) -> Execution:
    """Carry out a job, from outside of the place's event loop.

    What the caller has annotated (``dask.annotate``) is in the job; Dask shall not add it again.
    """
    execution = Context().run(on_loop, place.loop, place.trouble, lambda: carry_out(place, job))
    return checked(execution, keep_going=keep_going)


async def carry_out(place: Place, job: Job) -> Execution:
    """Carry out a job and return what came of it."""
    started, run, threads = time.time(), None, dict[str, int]()
    refuse_unpicklable(job.items, 0, min(1, len(job.items)))
    try:
        async with place.engine(job) as engine:
            run = await run_of(engine, job)
            await run.go()
            threads = {name: worker.threads for name, worker in engine.workers.items()}
    except MakespanError as error:
        if run is not None:
            error.execution = execution_of(run, started)
        raise
    execution = execution_of(run, started)
    if job.plan is not None or not threads or not len(job.items):
        return execution
    job.explain(execution.took)
    own = await place.own_map(execution.seconds, sum(threads.values()))
    return compared(execution, own, threads, job.batched)


async def run_of(engine: Engine, job: Job) -> Run:
    """Return a run of a job, once there is a worker."""
    names = tuple(job.plan.problem.machines) if job.plan is not None else ()
    has_master = job.plan is not None and isinstance(job.plan.problem, DivisibleLoad)
    if job.work and not engine.workers:
        job.tell(0.0, "there is no worker yet; waiting for one")
        await engine.wait_for_worker(max(1, len(job.items)))
    record = Record(names if has_master else (MASTER_NAME, *names))
    return Run(job, engine, record, job.recall(engine.workers))


def execution_of(run: Run, started: float) -> Execution:
    """Return what came of a run."""
    job = run.job
    values: list[Any] = []
    reached = 0
    for low in sorted(run.pieces):
        if low > reached:  # only where the run could not be ended
            values.append([None] * (low - reached))
        values.append(run.pieces[low])
        reached = low + len(run.pieces[low])
    if reached < len(job.items):
        values.append([None] * (len(job.items) - reached))
    seconds = time.time() - started
    names = [name for name, known in run.costs.known.items() if known.largest]
    took, by = np.array(run.took, np.float64), np.array(run.by, np.int64)
    items, busy = np.bincount(by, minlength=1), np.bincount(by, took, minlength=1)
    shares = zip(run.names, items[1:].tolist(), busy[1:].tolist(), strict=True)
    results, failures, order = joined(values), run.failures, job.items.order
    if order is not None:
        back = np.argsort(order)
        took = took[back]
        results = results[back] if isinstance(results, np.ndarray) else [results[n] for n in back]
        failures = [
            replace(one, first=int(place), last=int(place))
            for one in failures
            for place in order[one.first : one.last + 1]
        ]
    return Execution(
        results=results,
        schedule=run.record.schedule(),
        plan=job.plan,
        failures=tuple(sorted(failures, key=lambda failure: failure.first)),
        events=tuple(run.events),
        seconds=seconds,
        learning=seconds if run.learning is None else run.learning - started,
        planning=run.planning,
        platform=run.costs.star(names) if names and job.plan is None else None,
        took=took,
        workers=tuple(WorkerShare(*share) for share in sorted(shares)),
    )


def compared(
    execution: Execution, own: OwnMap | None, threads: Mapping[str, int], batched: bool
) -> Execution:
    """Return a run with what the engine's own map would have taken, where that is known."""
    if own is None:
        return execution
    each = {one.name: one.seconds / one.items for one in execution.workers if one.items}
    usual = sum(each.values()) / max(1, len(each))
    speeds = {name: usual / max(each.get(name, usual), 1e-12) for name in threads}
    slots = [
        speeds[name] if own.in_turn else 1.0
        for name, count in threads.items()
        for _ in range(count)
    ]
    rival = own.seconds(execution.took, slots, batched)
    if rival is None:
        return execution
    lost = execution.seconds - rival.low
    more = (rival.high - rival.low) / 2 / len(execution.took)  # seconds of an item
    middle = (rival.low + rival.high) / 2
    pays = math.ceil(max(1.0, lost / more)) if more > 0 and not batched else None
    return replace(
        execution,
        own_map=own.name,
        rival=(rival.low, rival.high),
        client_map=middle,
        tasks=rival.tasks,
        pays_from=len(execution.took) if pays is None and middle > execution.seconds else pays,
    )


class Background:
    """A job that runs in a thread at a place, until it is done or stopped.

    Where the job keeps its results is its own affair. ``ended`` is called in the thread, at the
    end.
    """

    def __init__(self, place: Place, job: Job, ended: Callable[[], object]) -> None:
        self._loop = place.loop
        self._came: list[Execution | BaseException] = []
        self._tasks: list[asyncio.Task[Any]] = []
        self._stopped = Event()
        arguments = place, job, ended, self._came, self._tasks, self._stopped
        self._thread = Thread(target=_run, args=arguments, daemon=True)
        self._thread.start()

    def call_soon(self, function: Callable[[], object]) -> None:
        """Call a function on the place's event loop, unless that is closed."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function)

    def stop(self) -> None:
        """Withdraw what is not done, and wait for the end."""
        self._stopped.set()
        for task in self._tasks:
            self.call_soon(task.cancel)
        self.wait()

    def wait(self) -> None:
        """Wait for the end."""
        self._thread.join()

    def execution(self) -> Execution:
        """Return what came of it, or raise what ended it."""
        self.wait()
        if isinstance(self._came[0], BaseException):
            raise self._came[0]
        return self._came[0]


class Raised:
    """What items raised, whose failures are noted before their results are kept."""

    def __init__(self, failures: Sequence[Failure], order: Any = None) -> None:
        self._failures, self._seen, self._order = failures, 0, order
        self._of: dict[int, Failure] = {}

    def by(self, item: int) -> BaseException | None:
        """Return what is to be raised for an item, with the worker's traceback as a note."""
        while self._seen < len(self._failures):
            one = self._failures[self._seen]
            places = range(one.first, one.last + 1)
            if self._order is not None:
                places = self._order[one.first : one.last + 1].tolist()
            self._of |= dict.fromkeys(places, one)
            self._seen += 1
        found = self._of.get(item)
        if found is None:
            return None
        if isinstance(found.error, ExecutionError):
            return BrokenExecutor(f"several workers died on an item: {found.error}")
        found.error.add_note(found.traceback)
        return found.error


def _run(
    place: Place,
    job: Job,
    ended: Callable[[], object],
    came: list[Execution | BaseException],
    tasks: list[asyncio.Task[Any]],
    stopped: Event,
) -> None:
    async def recorded() -> Execution:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        if stopped.is_set():  # before there was a task to cancel
            task.cancel()
        return await carry_out(place, job)

    try:
        came.append(on_loop(place.loop, place.trouble, recorded))
    except BaseException as error:
        came.append(error)
    ended()


def in_order(
    place: Place,
    job: Job,
    held: ExitStack,
    *,
    keep_going: bool,
    raising: bool = False,
    seconds: float | None = None,
) -> tuple[Iterator[Any], Background]:
    """Begin a job; return its results in the order of the data as they come, and itself.

    ``held`` is closed at the end. ``raising``: what an item raised is raised in its place. After so
    many ``seconds``, ``TimeoutError`` is raised where a result is not there, and the job stopped.
    """
    ready: SimpleQueue[tuple[int, Any] | None] = SimpleQueue()
    order = job.items.order
    raised = Raised(job.failures, order)
    until = None if seconds is None else time.monotonic() + seconds
    taken = 0

    def keep(first: int, values: Any) -> None:
        if order is None:
            ready.put((first, values))
        else:
            for item, value in zip(order[first:].tolist(), values, strict=False):
                ready.put((item, [value]))

    job = replace(job, keep=keep, taken=lambda: taken)

    def following() -> tuple[int, Any] | None:
        try:
            return ready.get(timeout=None if until is None else max(0.0, until - time.monotonic()))
        except Empty:
            raise TimeoutError(f"no result within {seconds:g} s") from None

    def results() -> Iterator[Any]:
        nonlocal taken
        waiting: dict[int, Any] = {}
        with held:
            try:
                yield None  # begun, so that whoever gives it up ends it
                while (found := following()) is not None:
                    waiting[found[0]] = found[1]
                    while taken in waiting:
                        values = waiting.pop(taken)
                        for item, value in enumerate(values, start=taken):
                            if raising and (error := raised.by(item)) is not None:
                                raise error
                            yield value
                        taken += len(values)
                        running.call_soon(job.changed.set)
            finally:
                running.stop()
        checked(running.execution(), keep_going=keep_going)

    running = Background(place, job, lambda: ready.put(None))
    found = results()
    next(found)
    return found, running
