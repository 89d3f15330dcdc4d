"""Measure a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from makespan.core.errors import InputError
from makespan.execute.dask.cluster.calibration import Calibration
from makespan.execute.dask.cluster.client import (
    checked_client,
    on_loop,
    pickled,
    refuse_unpicklable,
)
from makespan.execute.dask.cluster.crew import Crew, measured_again
from makespan.execute.dask.cluster.items import Items
from makespan.execute.dask.cluster.probe import Probe
from makespan.execute.dask.cluster.transfers import Traffic
from makespan.execute.dask.progress import Tell

REPEATS = 3
SECONDS = 1.5


def calibrate(
    client: Any,
    function: Callable[[Any], Any],
    sample: Any,
    *,
    batched: bool = False,
    repeats: int = REPEATS,
    seconds: float = SECONDS,
    progress: Tell | None = None,
) -> Calibration:
    """Measure what sending to, computing on and returning from each worker costs.

    Chunks of the sample of several sizes go to every worker; transfers are measured one at a
    time, computations on all workers at once, as in a run. At the end all workers are sent to
    together: that shows whether sends share a port, a link, or nothing. Each size is measured
    ``repeats`` times; disturbed measurements are left out and named in ``rejected``.

    Parameters
    ----------
    client
        A ``distributed.Client``.
    function
        What will be run: it gets one item, or a chunk of items where ``batched``.
    sample
        Data as it will come: a sequence, an array or Files. What it holds bounds the sizes that
        are measured.
    batched
        Whether the function takes a chunk (a list, or rows of an array) and returns one result
        an item.
    repeats
        Measurements of each size.
    seconds
        About how long the sends to, and the computations of, one worker may take in all.
    progress
        Called with the share done and what is measured now.

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
    MissingExtra
        Without Dask.

    Source: least squares of relative errors on what is left after rejecting outliers by their
    median absolute deviation.
    """
    client = checked_client(client)
    items = Items(sample)
    if not len(items):
        raise InputError("sample: is empty; at least one item is needed to measure anything")
    sent = pickled(function)
    refuse_unpicklable(items.payload(0, 1), "sample[0]")

    def tell(share: float, what: str) -> None:
        if progress is not None:
            progress(share, what)

    async def measure() -> Calibration:
        async with Crew(client) as crew, Traffic(crew, sent, batched) as traffic:
            probe = Probe(crew, traffic, items, repeats, seconds, tell)
            return await measured_again(crew, probe.run, tell)

    return on_loop(client, measure)
