"""Measure a cluster."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from makespan.core.errors import ExecutionError, InputError
from makespan.core.inputs.suggest import suggesting
from makespan.execute.dask.cluster.calibration import Calibration
from makespan.execute.dask.cluster.client import Client, checked_client, on_loop
from makespan.execute.dask.cluster.engine import DaskEngine
from makespan.execute.dask.cluster.probe import Probe
from makespan.execute.dask.cluster.workers import WorkerPool, refuse_no_worker
from makespan.execute.dealing.engine import WorkerLost
from makespan.execute.dealing.items import Items
from makespan.execute.pickles import function_as_sent, refuse_unpicklable
from makespan.execute.progress import Progress, Tell, teller

REPETITIONS = 3
TIME_LIMIT = 1.5
MAX_TRIES = 3  # to measure while workers get lost


@suggesting
def calibrate(
    function: Callable[[Any], Any],
    sample: Any,
    client: Client,
    *,
    batched: bool = False,
    repetitions: int = REPETITIONS,
    time_limit: float = TIME_LIMIT,
    progress: Progress = True,
) -> Calibration:
    """Measure what sending to, computing on and returning from each worker costs.

    Chunks of the sample of several sizes go to every worker; transfers are measured one at a
    time, computations on all workers at once, as in a run. At the end all workers are sent to
    together: that shows whether sends share a port, a link, or nothing. Each size is measured
    ``repetitions`` times; disturbed measurements are left out and named in ``rejected``.

    Parameters
    ----------
    function, client, batched, repetitions, progress
        As everywhere in :mod:`makespan.execute.dask`.
    sample
        Data as it will come. What it holds bounds the sizes that are measured.
    time_limit
        About how many seconds the sends to, and the computations of, one worker may take in all.

    Returns
    -------
    Calibration
        The costs with their confidence intervals, and problems to plan on.

    Raises
    ------
    ExecutionError
        If there is no worker, all get lost and none comes, or the function raises on the sample.
    InputError
        If the sample is empty, or something can't be pickled.

    Source: least squares of relative errors on what is left after rejecting outliers by their
    median absolute deviation.

    >>> from makespan.execute import dask
    >>> costs = dask.calibrate(abs, list(range(1000)), client, time_limit=0.2)  # doctest: +SKIP
    >>> len(costs.workers)  # doctest: +SKIP
    3
    """
    client = checked_client(client)
    items = Items(sample)
    if not len(items):
        raise InputError("sample: is empty; at least one item is needed to measure anything")
    sent = function_as_sent(function)
    refuse_unpicklable(items, 0, 1, "sample")

    async def measure(tell: Tell) -> Calibration:
        async with WorkerPool(client) as pool, DaskEngine(pool, sent, batched) as engine:
            return await _whole(Probe(pool, engine, items, repetitions, time_limit, tell))

    with teller(progress) as tell:
        return on_loop(client, lambda: measure(tell))


async def _whole(probe: Probe) -> Calibration:
    """Measure; where that fails as workers were lost, again with those that are there then."""
    refuse_no_worker(probe.pool)
    for _ in range(MAX_TRIES):
        await probe.pool.wait_for_one()
        with suppress(WorkerLost):
            return await probe.run()
        probe.tell(0.0, "workers were lost; measuring again")
    raise ExecutionError(f"workers left while they were measured, {MAX_TRIES} times in a row")
