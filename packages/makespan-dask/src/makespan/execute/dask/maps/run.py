"""Run a plan."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from makespan.core.errors import InputError
from makespan.core.inputs.suggest import suggesting
from makespan.core.numeric.arrays import Integers
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.machines import Worker
from makespan.divisible.problem import DivisibleLoad
from makespan.execute.carry_out import carried_out
from makespan.execute.dask.cluster.client import Client, checked_client
from makespan.execute.dask.maps.cluster import Cluster, DaskJob
from makespan.execute.dealing.backlog import Chunk
from makespan.execute.dealing.costs import Costs
from makespan.execute.dealing.items import Items
from makespan.execute.dealing.pool import Range
from makespan.execute.dealing.transfers import Order, transfers_of
from makespan.execute.execution import Execution
from makespan.execute.pickles import function_as_sent
from makespan.execute.progress import Progress, teller
from makespan.flow.result import Result
from makespan.partition.problem import Partition

LOADS_AGREE = 1e-6


@suggesting
def run(
    plan: Result,
    function: Callable[[Any], Any],
    data: Any,
    client: Client,
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

    >>> from makespan.execute import dask
    >>> costs = dask.calibrate(abs, list(range(1000)), client, time_limit=0.2)  # doctest: +SKIP
    >>> plan = dask.plan(costs, 4000)  # doctest: +SKIP
    >>> sum(dask.run(plan, abs, range(-4000, 0), client).results)  # doctest: +SKIP
    8002000
    """
    client = checked_client(client)
    items = Items(data)
    refuse_unusable(plan, items)
    sent = function_as_sent(function)
    costs = _costs(plan)
    chunks, order = _planned(plan, items)
    with teller(progress) as tell:
        job = DaskJob(
            function=sent,
            items=items,
            batched=batched,
            tell=tell,
            recall=lambda members: costs,
            plan=plan,
            chunks=chunks,
            order=order,
        )
        return carried_out(Cluster(client), job, keep_going=keep_going)


def _planned(plan: Result, items: Items) -> tuple[tuple[Chunk, ...], Order]:
    """Return the chunks of a plan, and the order of their transfers."""
    schedule, problem = plan.schedule, plan.problem
    assert schedule is not None
    rows = chunk_rows(schedule)
    cuts = items.cut(schedule.amount[rows].tolist())
    chunks = []
    for row, (low, high) in zip(rows.tolist(), pairwise(cuts), strict=True):
        if low < high:
            name = schedule.machines[int(schedule.machine[row])]
            units = items.load_of(low, high)
            chunks.append(Chunk(int(schedule.item[row]), name, Range(low, high), units))
    carried = {chunk.item for chunk in chunks}
    transfers = [one for one in transfers_of(schedule) if one.item in carried]
    return tuple(chunks), Order(transfers, problem if isinstance(problem, DivisibleLoad) else None)


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
    """Raise InputError with what stands in the way of a plan for these items."""
    problem = plan.problem
    if plan.schedule is None:
        raise InputError(f"plan: is {plan.status}, without a schedule")
    if isinstance(problem, Partition):
        load = float(plan.schedule.amount.sum())
    elif isinstance(problem, DivisibleLoad) and problem.is_star:
        computes = plan.schedule.kind == Activity.COMPUTE
        sends = plan.schedule.rows_of(Activity.SEND)
        holder = int(plan.schedule.machine[sends[0]]) if len(sends) else -1
        if np.any(plan.schedule.machine[computes] == holder):
            raise InputError(
                "plan: lets the master compute; here the master is the client, which can't"
            )
        load = float(plan.schedule.amount[computes].sum())
    else:
        raise InputError("plan: is not for a divisible load on a star, nor for a partition")
    if abs(load - items.load) > LOADS_AGREE * max(load, items.load):
        raise InputError(
            f"plan: is for a load of {load:g} units, but the data has {items.load:g}; plan again"
        )


def _costs(plan: Result) -> Costs:
    """Return the costs that a plan was made on."""
    schedule = plan.schedule
    assert schedule is not None
    load = float(schedule.amount.max(initial=1.0))
    if isinstance(plan.problem, DivisibleLoad):
        return Costs.of(plan.problem.star.workers, load)
    workers = []
    for row in np.flatnonzero(schedule.amount > 0).tolist():
        seconds = float(schedule.end[row] - schedule.start[row])
        name = schedule.machines[int(schedule.machine[row])]
        workers.append(Worker(name=name, compute=seconds / float(schedule.amount[row])))
    return Costs.of(workers, load)
