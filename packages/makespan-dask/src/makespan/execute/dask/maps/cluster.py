"""A Dask cluster as a place for jobs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from makespan.execute.dask.cluster.client import trouble_of
from makespan.execute.dask.cluster.engine import DaskEngine
from makespan.execute.dask.cluster.workers import (
    ANY,
    Only,
    WorkerPool,
    as_dask_waits,
    refuse_no_worker,
)
from makespan.execute.dask.graphs.history import history_of
from makespan.execute.dealing.engine import Engine
from makespan.execute.dealing.rival import LONGEST, PROBES, WORTH_MEASURING, OwnMap
from makespan.execute.dealing.state import Job
from makespan.execute.pickles import Function


@dataclass(frozen=True, slots=True, kw_only=True)
class DaskJob(Job):
    """A job for a Dask cluster."""

    function: Function  # as it is sent
    only: Only = ANY  # which workers may be used
    priority: float = 0.0  # among what else the cluster has to do; higher is sooner


@dataclass(frozen=True, slots=True)
class Cluster:
    """The cluster of a client."""

    client: Any

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The client's."""
        found: asyncio.AbstractEventLoop = self.client.loop.asyncio_loop
        return found

    def trouble(self) -> str:
        """Say why the client can't be used any more."""
        return trouble_of(self.client)

    async def own_map(self, seconds: float, slots: int) -> OwnMap | None:
        """Return ``client.map``, measured once a run was long enough for that."""
        history = history_of(self.client).functions
        if history.overhead is None and seconds >= WORTH_MEASURING:
            history.overhead = await self._overhead(slots)
        return OwnMap(name="client.map", overhead=history.overhead)

    async def _overhead(self, threads: int) -> float | None:
        """Return what a task loses, by some that do nothing."""
        begun, futures = time.perf_counter(), []
        try:
            async with asyncio.timeout(LONGEST):
                futures = self.client.map(abs, range(PROBES * threads), pure=False)
                await self.client.gather(futures, asynchronous=True)
        except Exception:  # it is busy with something else, or gone
            return None
        finally:
            for future in futures:
                future.release()
        return (time.perf_counter() - begun) / PROBES

    @asynccontextmanager
    async def engine(self, job: DaskJob) -> AsyncIterator[Engine]:
        """Give its workers; nothing is left on them afterwards."""
        patience = as_dask_waits() if job.plan is None else None
        options = job.batched, job.only.resources, job.priority
        async with (
            WorkerPool(self.client, only=job.only, patience=patience) as pool,
            DaskEngine(pool, job.function, *options) as engine,
        ):
            if len(job.items) and job.plan is not None:
                refuse_no_worker(pool)
            yield engine
