"""In place of a client of Dask: the engine inside this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

import makespan.execute.dask.maps.map as mapped
import makespan.execute.dask.maps.run as planned
from makespan.execute import dask
from makespan.execute.carry_out import compared
from makespan.execute.dask.maps.cluster import Cluster, DaskJob
from makespan.execute.dealing.rival import OwnMap
from makespan.execute.execution import Execution, checked
from tests.execute.dealing.engine import InProcess
from tests.execute.dealing.virtual import ran

OVERHEAD = 0.001  # seconds of a task of ``client.map``


def carried_out(place: Cluster, job: DaskJob, *, keep_going: bool = False) -> Execution:
    """Do here what is done on a cluster."""
    execution = ran(place.client, job, job.function.sent)[2]
    job.explain(execution.took)
    own = OwnMap(name="client.map", overhead=OVERHEAD)
    threads = dict.fromkeys(place.client.workers, place.client.threads)
    return checked(compared(execution, own, threads, job.batched), keep_going=keep_going)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[InProcess]:
    """Three workers of one thread, by a clock that jumps."""
    for module in (mapped, planned):
        monkeypatch.setattr(module, "carried_out", carried_out)
    monkeypatch.setattr(mapped, "client_or_local", nullcontext)
    monkeypatch.setattr(planned, "checked_client", lambda client: client)
    engine = InProcess()
    yield engine
    dask.forget(engine)
