"""A job carried out on a Dask cluster: at once, or in the background, results as they come."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack, suppress
from contextvars import Context
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any

import numpy as np

from makespan.core.errors import ExecutionError, MakespanError
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.problem import DivisibleLoad
from makespan.execute.dask.cluster.calibration import MASTER_NAME
from makespan.execute.dask.cluster.client import on_loop
from makespan.execute.dask.cluster.engine import DaskEngine
from makespan.execute.dask.cluster.pickles import Function, refuse_unpicklable
from makespan.execute.dask.cluster.workers import (
    ANY,
    Only,
    WorkerPool,
    as_dask_waits,
    refuse_no_worker,
)
from makespan.execute.dask.execution import Execution, checked
from makespan.execute.dealing.costs import Costs
from makespan.execute.dealing.engine import Engine, Failure
from makespan.execute.dealing.items import joined
from makespan.execute.dealing.run import Run
from makespan.execute.dealing.state import Job
from makespan.execute.dealing.transfers import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class DaskJob(Job):
    """A job for a Dask cluster.

    Parameters
    ----------
    function
        As it is sent.
    only
        Which workers may be used.
    priority
        Among what else the cluster has to do; higher is sooner.
    """

    function: Function
    only: Only = ANY
    priority: float = 0.0


def carried_out(client: Any, job: DaskJob, *, keep_going: bool) -> Execution:
    """Carry out a job, from outside of the client's event loop.

    What the caller has annotated (``dask.annotate``) is in the job; Dask shall not add it again.
    """
    execution = Context().run(on_loop, client, lambda: carry_out(client, job))
    return checked(execution, keep_going=keep_going)


async def carry_out(client: Any, job: DaskJob) -> Execution:
    """Carry out a job and return what came of it."""
    started, run = time.time(), None
    refuse_unpicklable(job.items, 0, min(1, len(job.items)))
    patience = as_dask_waits() if job.plan is None else None
    options = job.batched, job.only.resources, job.priority
    try:
        async with (
            WorkerPool(client, only=job.only, patience=patience) as pool,
            DaskEngine(pool, job.function, *options) as engine,
        ):
            if len(job.items) and job.plan is not None:
                refuse_no_worker(pool)
            run = await run_of(engine, job)
            await run.go()
    except MakespanError as error:
        if run is not None:
            error.execution = execution_of(run, started)
        raise
    return execution_of(run, started)


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
    return Execution(
        results=joined(values),
        schedule=run.record.schedule(),
        plan=job.plan,
        failures=tuple(sorted(run.failures, key=lambda failure: failure.first)),
        events=tuple(run.events),
        seconds=seconds,
        learning=seconds if run.learning is None else run.learning - started,
        planning=run.planning,
        **_worth(run, names, seconds) if names and job.plan is None else {},
    )


def _worth(run: Run, names: Sequence[str], seconds: float) -> dict[str, Any]:
    """Return what was learnt, and what it was worth."""
    items, costs, chunked = run.items, run.costs, run.job.batched
    rival, tasks = costs.client_map(names, items.load, len(items), chunked)
    lost = max(0.0, seconds - costs.dealt(names, items.load))
    known = {"platform": costs.star(names), "tasks": tasks}
    share, error = _computed(run.record.schedule(), costs, names)
    if error > MOST_WRONG:
        return known
    return known | {
        "client_map": max(share, rival),
        "client_map_range": (max(share, rival * (1 - error)), max(share, rival * (1 + error))),
        "pays_from": costs.pays_from(names, items.load / len(items), lost, chunked),
    }


def _computed(schedule: Schedule, costs: Costs, names: Sequence[str]) -> tuple[float, float]:
    """Return how long a worker computed on average, and how far the learnt costs are from that.

    Whatever deals the items out, the workers compute about as long together: nothing is faster
    than that, shared equally. The error is relative, of the sums of each worker.
    """
    rows = schedule.kind == Activity.COMPUTE
    busy, off = 0.0, 0.0
    for name in (name for name in names if name in schedule.machines):
        own = np.flatnonzero(rows & (schedule.machine == schedule.machines.index(name)))
        start, end = schedule.start[own], schedule.end[own]
        order = np.argsort(start)
        until = np.maximum.accumulate(end[order])
        before = np.concatenate([[-np.inf], until[:-1]])
        busy += float(np.maximum(0.0, until - np.maximum(start[order], before)).sum())
        took = float((end - start).sum())
        cost = costs[name].compute.cost
        off += abs(sum(map(cost.of, schedule.amount[own].tolist())) - took)
    total = float((schedule.end - schedule.start)[rows].sum())
    return busy / len(names), off / total if total > 0 else np.inf


MOST_WRONG = 0.25
"""The relative error of learnt costs beyond which nothing is said about ``client.map``."""


class Background:
    """A job that runs in a thread, until it is done or stopped.

    Parameters
    ----------
    client, job
        What runs, and where. Where the job keeps its results is its own affair.
    ended
        Called in the thread, at the end.
    """

    def __init__(self, client: Any, job: DaskJob, ended: Callable[[], object]) -> None:
        self._loop = client.loop.asyncio_loop
        self._came: list[Execution | BaseException] = []
        self._tasks: list[asyncio.Task[Any]] = []
        self._stopped = Event()
        arguments = client, job, ended, self._came, self._tasks, self._stopped
        self._thread = Thread(target=_run, args=arguments, daemon=True)
        self._thread.start()

    def call_soon(self, function: Callable[[], object]) -> None:
        """Call a function on the client's event loop, unless the client was closed."""
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

    def __init__(self, failures: Sequence[Failure]) -> None:
        self._failures, self._seen = failures, 0
        self._of: dict[int, Failure] = {}

    def by(self, item: int) -> BaseException | None:
        """Return what is to be raised for an item, with the worker's traceback as a note."""
        while self._seen < len(self._failures):
            one = self._failures[self._seen]
            self._of |= dict.fromkeys(range(one.first, one.last + 1), one)
            self._seen += 1
        found = self._of.get(item)
        if found is None:
            return None
        if isinstance(found.error, ExecutionError):
            return BrokenExecutor(f"several workers died on an item: {found.error}")
        found.error.add_note(found.traceback)
        return found.error


def _run(
    client: Any,
    job: DaskJob,
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
        return await carry_out(client, job)

    try:
        came.append(on_loop(client, recorded))
    except BaseException as error:
        came.append(error)
    ended()


def in_order(
    client: Any,
    job: DaskJob,
    held: ExitStack,
    *,
    keep_going: bool,
    raising: bool = False,
    seconds: float | None = None,
) -> tuple[Iterator[Any], Background]:
    """Begin a job; return its results in the order of the data as they come, and itself.

    Parameters
    ----------
    held
        What is closed at the end.
    raising
        Whether what an item raised is raised in its place.
    seconds
        After which ``TimeoutError`` is raised where a result is not there, and the job stopped.
    """
    ready: SimpleQueue[tuple[int, Any] | None] = SimpleQueue()
    raised = Raised(job.failures)
    until = None if seconds is None else time.monotonic() + seconds
    taken = 0
    job = replace(
        job,
        keep=lambda first, values: ready.put((first, values)),
        taken=lambda: taken,
    )

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

    running = Background(client, job, lambda: ready.put(None))
    found = results()
    next(found)
    return found, running
