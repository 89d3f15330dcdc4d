"""A job carried out: a run on a crew, from its beginning to what came of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextvars import Context
from typing import Any

from makespan.core.errors import MakespanError
from makespan.divisible.problem import DivisibleLoad
from makespan.execute.dask.cluster.calibration import MASTER_NAME
from makespan.execute.dask.cluster.client import on_loop
from makespan.execute.dask.cluster.crew import Crew, as_dask_waits, refuse_no_worker
from makespan.execute.dask.cluster.items import Stream, joined
from makespan.execute.dask.cluster.transfers import Traffic
from makespan.execute.dask.execution import Execution, checked
from makespan.execute.dask.maps.job import Job
from makespan.execute.dask.maps.record import Record
from makespan.execute.dask.maps.runner import Run


def carried_out(client: Any, job: Job, *, keep_going: bool) -> Execution:
    """Carry out a job, from outside of the client's event loop.

    What the caller has annotated (``dask.annotate``) is in the job; Dask shall not add it again.
    """
    execution = Context().run(on_loop, client, lambda: carry_out(client, job))
    return checked(execution, keep_going=keep_going)


async def carry_out(client: Any, job: Job) -> Execution:
    """Carry out a job and return what came of it."""
    started = time.time()
    items, run = job.items, None
    items.refuse_unpicklable(0, min(1, len(items)))
    names = tuple(job.plan.problem.machines) if job.plan is not None else ()
    has_master = job.plan is not None and isinstance(job.plan.problem, DivisibleLoad)
    record = Record(names if has_master else (MASTER_NAME, *names))
    patience = as_dask_waits() if job.plan is None else None
    try:
        async with (
            Crew(client, only=job.only, patience=patience) as crew,
            Traffic(crew, job.function, job.batched, job.only.resources, job.priority) as traffic,
        ):
            work = len(items) or isinstance(items, Stream)
            if work and job.plan is not None:
                refuse_no_worker(crew)
            if work and not crew.members:
                job.tell(0.0, "there is no worker yet; waiting for one")
                await crew.wait_for_one(max(1, len(items)))
            run = Run(job, crew, traffic, record, job.recall(crew.members))
            if work:
                await run.go()
                job.learn(crew.members, run.costs)
    except MakespanError as error:
        if run is not None:
            error.execution = _execution(run, started)
        raise
    return _execution(run, started)


def _execution(run: Run, started: float) -> Execution:
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
    return {
        "platform": costs.star(names),
        "client_map": rival,
        "tasks": tasks,
        "pays_from": costs.pays_from(names, items.load / len(items), lost, chunked),
    }
