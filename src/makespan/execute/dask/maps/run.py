"""Run a plan."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from makespan.core.errors import InputError, MakespanError
from makespan.core.inputs.suggest import suggesting
from makespan.core.numeric.arrays import Integers
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.platform import Worker
from makespan.divisible.problem import DivisibleLoad
from makespan.execute.dask.cluster.calibration import MASTER_NAME, Calibration
from makespan.execute.dask.cluster.client import (
    checked_client,
    on_loop,
    pickled,
    refuse_unpicklable,
)
from makespan.execute.dask.cluster.crew import Crew, refuse_no_worker
from makespan.execute.dask.cluster.items import Items, joined
from makespan.execute.dask.cluster.transfers import Traffic
from makespan.execute.dask.execution import Execution, raise_if_failed
from makespan.execute.dask.maps.estimates import Estimates
from makespan.execute.dask.maps.order import Order, overlapping, transfers_of
from makespan.execute.dask.maps.pool import Range
from makespan.execute.dask.maps.record import Record
from makespan.execute.dask.maps.runner import Chunk, Leg, Replan, Run
from makespan.execute.progress import Progress, Tell, teller
from makespan.flow.result import Result
from makespan.partition.problem import Partition

LOADS_AGREE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to run on what, and how.

    ``replan`` plans again from what is known of the costs; ``tail`` is the share of the load,
    from its end, that is dealt out in place of following the plan, so many ``sends`` at a time
    (None: any number); ``overlap`` lets latencies of sends overlap, where no port forbids it.
    """

    function: bytes
    items: Items
    batched: bool
    plan: Result | None
    estimates: Estimates
    sends: int | None
    tell: Tell
    replan: Replan | None = None
    tail: float = 0.0
    overlap: bool = False
    calibration: Calibration | None = None


@suggesting
def run(
    plan: Result,
    function: Callable[[Any], Any],
    data: Any,
    client: Any,
    *,
    batched: bool = False,
    keep_going: bool = False,
    progress: Progress = True,
) -> Execution:
    """Run a plan on a Dask cluster, and measure it.

    Chunks are sent in the order of the plan, one at a time where it has one port; each is pinned
    to its worker, computed in the order of sending, and its results come back as planned. Chunks
    of a worker that leaves are given to the others, in pieces that grow smaller.

    Parameters
    ----------
    plan
        A result for a divisible load on a star, or for a partition, whose workers bear the names
        that they have on the scheduler. Its load is that of the data: items, or bytes of Files.
    function, data, client, batched, keep_going, progress
        As everywhere in :mod:`makespan.execute.dask`.

    Returns
    -------
    Execution
        The results in the order of the data, and what was measured.

    Raises
    ------
    ItemsFailed
        If the function raised on any item; the results of the others are in its ``execution``.
    ExecutionError
        If there is no worker, none is left, the scheduler is lost, or the client is closed
        meanwhile; the results until then are in its ``execution``.
    InputError
        If the plan can't be run, does not fit the data, or something can't be pickled.
    """
    client = checked_client(client)
    items = Items(data)
    refuse_unusable(plan, items)
    sent = pickled(function)
    with teller(progress) as tell:
        job = Job(
            function=sent,
            items=items,
            batched=batched,
            plan=plan,
            estimates=_estimates(plan),
            sends=_sends(plan.problem),
            tell=tell,
        )
        return carry_out(client, job, keep_going=keep_going)


def carry_out(client: Any, job: Job, *, keep_going: bool) -> Execution:
    """Carry out a job and return what came of it."""
    if len(job.items):
        refuse_unpicklable(job.items.payload(0, 1), "data[0]")
    execution = on_loop(client, lambda: _carry_out(client, job))
    if not keep_going:
        raise_if_failed(execution)
    return execution


async def _carry_out(client: Any, job: Job) -> Execution:
    started = time.time()
    names = tuple(job.plan.problem.machines) if job.plan is not None else ()
    divisible = job.plan is None or isinstance(job.plan.problem, DivisibleLoad)
    record = Record(names if names and divisible else (MASTER_NAME, *names))
    running = None
    try:
        async with Crew(client) as crew, Traffic(crew, job.function, job.batched) as traffic:
            running = Run(
                crew,
                traffic,
                job.items,
                record,
                job.estimates,
                sends=job.sends,
                replan=job.replan,
                tell=job.tell,
            )
            if len(job.items):
                refuse_no_worker(crew)
                await running.go(_first_leg(job, running))
    except MakespanError as error:
        if running is not None:
            error.execution = _execution(job, running, record, started)
        raise
    return _execution(job, running, record, started)


def _execution(job: Job, running: Run, record: Record, started: float) -> Execution:
    pieces = running.pieces
    values: list[Any] = []
    reached = 0
    for low in sorted(pieces):
        if low > reached:  # only where the run could not be ended
            values.append([None] * (low - reached))
        values.append(pieces[low])
        reached = low + len(pieces[low])
    if reached < len(job.items):
        values.append([None] * (len(job.items) - reached))
    return Execution(
        results=joined(values),
        schedule=record.schedule(),
        plan=job.plan,
        failures=tuple(sorted(running.failures, key=lambda failure: failure.first)),
        events=tuple(running.events),
        seconds=time.time() - started,
        calibration=job.calibration,
    )


def _first_leg(job: Job, running: Run) -> Leg:
    """Return the plan's chunks; what is to be dealt out goes into the pool."""
    if job.plan is None or job.plan.schedule is None:
        running.pool.put(Range(0, len(job.items)))
        return running.idle_leg()
    schedule = job.plan.schedule
    problem = job.plan.problem
    rows = chunk_rows(schedule)
    cuts = job.items.cut(schedule.amount[rows].tolist())
    chunks = []
    kept = job.items.item_at((1.0 - job.tail) * job.items.load)
    transfers = transfers_of(schedule)
    for place, row in enumerate(rows.tolist()):
        low, high = cuts[place], cuts[place + 1]
        one = Range(low, min(high, kept))
        if one.low < one.high:
            name = schedule.machines[int(schedule.machine[row])]
            chunks.append(Chunk(int(schedule.item[row]), name, one))
        if high > kept:
            running.pool.put(Range(max(low, kept), high))
    present = {chunk.item for chunk in chunks}
    carried = [transfer for transfer in transfers if transfer.item in present]
    if not isinstance(problem, DivisibleLoad):
        return Leg(tuple(chunks), Order(carried, None))
    if job.overlap:
        carried = overlapping(carried, problem.star)
    return Leg(tuple(chunks), Order(carried, problem))


def chunk_rows(schedule: Schedule) -> Integers:
    """Return the computations of a schedule in the order in which their chunks are sent."""
    computes = np.flatnonzero((schedule.kind == Activity.COMPUTE) & (schedule.amount > 0))
    sends = schedule.rows_of(Activity.SEND)
    if not len(sends):
        return computes
    place = {item: rank for rank, item in enumerate(schedule.item[sends].tolist())}
    ranks = [place[item] for item in schedule.item[computes].tolist()]
    return computes[np.argsort(ranks, kind="stable")]


def refuse_unusable(plan: Result, items: Items) -> None:
    """Refuse a plan that can't be run on these items.

    Raises
    ------
    InputError
        With what stands in the way.
    """
    problem = plan.problem
    if plan.schedule is None:
        raise InputError(f"plan: is {plan.status}, without a schedule")
    if isinstance(problem, Partition):
        load = float(plan.schedule.amount.sum())
    elif isinstance(problem, DivisibleLoad) and problem.is_star:
        load = _divisible_load(plan.schedule)
    else:
        raise InputError("plan: is not for a divisible load on a star, nor for a partition")
    if abs(load - items.load) > LOADS_AGREE * max(load, items.load):
        raise InputError(
            f"plan: is for a load of {load:g} units, but the data has {items.load:g}; plan again"
        )


def _divisible_load(schedule: Schedule) -> float:
    computes = schedule.kind == Activity.COMPUTE
    sends = schedule.rows_of(Activity.SEND)
    holder = int(schedule.machine[sends[0]]) if len(sends) else -1
    if np.any(schedule.machine[computes] == holder):
        raise InputError(
            "plan: lets the master compute; here the master is the client, which can't"
        )
    return float(schedule.amount[computes].sum())


def _estimates(plan: Result) -> Estimates:
    if isinstance(plan.problem, DivisibleLoad):
        return Estimates.of(plan.problem)
    schedule = plan.schedule
    assert schedule is not None
    workers = []
    for row in np.flatnonzero(schedule.amount > 0).tolist():
        seconds = float(schedule.end[row] - schedule.start[row])
        name = schedule.machines[int(schedule.machine[row])]
        workers.append(Worker(name=name, compute=seconds / float(schedule.amount[row])))
    return Estimates(workers)


def _sends(problem: object) -> int | None:
    """Return how many sends may go on at a time where the plan does not say."""
    return 1 if isinstance(problem, DivisibleLoad) and problem.ports != "many" else None
