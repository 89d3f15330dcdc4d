"""Clusters for the tests: one inside this process, and stars of real processes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.execute.stars import Cluster, Link, star_of


def tasks_left(client: Any) -> list[str]:
    """Return the tasks that the scheduler keeps; released ones may take a moment to go."""
    for _ in range(100):
        left: list[str] = client.run_on_scheduler(lambda dask_scheduler: [*dask_scheduler.tasks])
        if not left:
            break
        time.sleep(0.05)
    return left


def in_process(workers: int, threads: int = 1) -> Any:
    """Start a cluster inside this process."""
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=workers,
        threads_per_worker=threads,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        worker_dashboard_address="127.0.0.1:0",
    )


@pytest.fixture(scope="session")
def local() -> Iterator[Any]:
    """A cluster of three one-thread workers inside this process."""
    with in_process(3) as cluster:
        yield cluster


@pytest.fixture
def client(local: Any) -> Iterator[Any]:
    """A client of the cluster inside this process; nothing may be left on it afterwards."""
    from distributed import Client

    with Client(local, set_as_default=False) as own:
        yield own
        assert tasks_left(own) == []


@pytest.fixture(scope="session")
def star() -> Iterator[Cluster]:
    """Three real workers behind links of 50, 100 and 200 Mbit/s."""
    with star_of([Link(rate=50), Link(rate=100), Link(rate=200)]) as cluster:
        yield cluster


@pytest.fixture
def star_client(star: Cluster) -> Iterator[Any]:
    """A client of the star."""
    from distributed import Client

    with Client(star.address, set_as_default=False) as own:
        own.wait_for_workers(3)
        yield own


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Three real workers that may be killed."""
    with star_of([Link(), Link(), Link()]) as own:
        yield own


@pytest.fixture
def killable(cluster: Cluster) -> Iterator[Any]:
    """A client of theirs."""
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as own:
        own.wait_for_workers(3)
        yield own
