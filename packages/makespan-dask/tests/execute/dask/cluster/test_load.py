"""Clusters that grow with the work, and shrink while it is done."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from dask import config, delayed
from distributed import Client

from makespan.execute import dask
from makespan.execute.dask.cluster.load import FEWEST, Load, unknown
from tests.execute import functions
from tests.execute.conftest import in_process, tasks_left


@pytest.fixture
def empty() -> Iterator[tuple[Any, Any]]:
    """A cluster inside this process that has no worker yet, and its client."""
    with in_process(0) as cluster, Client(cluster, set_as_default=False) as own:
        yield cluster, own
        assert tasks_left(own) == []


def target(client: Any) -> int:
    """Return how many workers the scheduler would like to have."""
    found: int = client.run_on_scheduler(
        lambda dask_scheduler: dask_scheduler.adaptive_target("1s")
    )
    return found


def test_what_is_shown_is_asked_for(client: Any) -> None:
    """More or less of it, as there is; in the end nothing is left."""

    async def shown() -> list[int]:
        load, found = Load(client), []

        async def look(*amounts: Any) -> None:
            load.show(*amounts)
            for _ in range(100):
                await asyncio.sleep(0.02)
                found.append(await client.scheduler.adaptive_target(target_duration="1s"))
                if found[-1] == wanted:
                    break

        for amounts, wanted in (((10.0, 1000), 10), ((50.0, 1000), 50), ((4.0, 1000), 4)):
            await look(*amounts)
            assert found[-1] == wanted
        with config.set({"distributed.adaptive.target-duration": "1s"}):
            wanted = 7
            await look(100.0, 7)  # a thread for each task at most
            assert found[-1] == 7
        load.show(1e9, 10**9, 1)
        assert len(load._shown) == FEWEST
        await load.close()
        return found

    assert client.sync(shown)
    assert unknown() == 0.5
    assert tasks_left(client) == []


def test_all_wait_for_a_worker_that_is_on_its_way(empty: tuple[Any, Any]) -> None:
    """As ``client.map`` does; each of them."""
    cluster, client = empty
    squares = [item * item for item in range(10)]
    found: list[Any] = []

    def begun(call: Any) -> threading.Thread:
        thread = threading.Thread(target=lambda: found.append(call()))
        thread.start()
        return thread

    calls = [
        begun(lambda: dask.map(functions.squared, range(10), client, progress=False).results),
        begun(lambda: list(dask.imap(functions.squared, range(10), client, progress=False))),
        begun(lambda: list(dask.Executor(client).map(functions.squared, range(10)))),
        begun(lambda: list(dask.compute([delayed(pow)(n, 2) for n in range(10)], client).results)),
        begun(lambda: joblibs(client)),
    ]
    time.sleep(0.2)
    assert found == []
    assert target(client) >= 1
    cluster.scale(1)
    for each in calls:
        each.join(60.0)
    assert found == [squares] * len(calls)


def joblibs(client: Any) -> list[int]:
    import joblib

    dask.register_joblib()
    with joblib.parallel_config(backend="makespan", client=client):
        return list(joblib.Parallel()(joblib.delayed(functions.squared)(n) for n in range(10)))


def nap(item: int) -> int:
    time.sleep(0.02)
    return item


@pytest.mark.thorough
def test_a_cluster_that_adapts_grows(empty: tuple[Any, Any]) -> None:
    """From nothing, to as many workers as may be; and what they do is done."""
    cluster, client = empty
    cluster.adapt(minimum=0, maximum=2, interval="50ms", target_duration="1s", wait_count=100)
    execution = dask.map(nap, range(200), client, progress=False)
    assert execution.results == list(range(200))
    assert len(execution.platform.workers) == 2


@pytest.mark.thorough
def test_who_is_retired_in_the_middle_loses_nothing(empty: tuple[Any, Any]) -> None:
    """Its chunks go to others, and nobody is blamed."""
    cluster, client = empty
    cluster.scale(3)
    client.wait_for_workers(3)
    timer = threading.Timer(0.3, lambda: cluster.scale(1))
    timer.start()
    execution = dask.map(nap, range(150), client, progress=False)
    timer.join()
    assert execution.results == list(range(150))
    assert sum("was retired" in event for event in execution.events) == 2
    assert not any("died" in event for event in execution.events)
