"""Pipelines that run on Dask: as on executors, and by the names of workers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from makespan import ExecutionError, Pipeline, solve
from makespan.execute import run_pipeline
from tests.execute.test_intervals import (
    test_a_function_that_raises_names_stage_and_item,
    test_results_come_in_the_order_of_the_data,
    threads_of_runs,
)

__all__ = [
    "test_a_function_that_raises_names_stage_and_item",
    "test_results_come_in_the_order_of_the_data",
]


@pytest.fixture
def place(client: Any) -> Iterator[Any]:
    """The place of the tests of executors."""
    yield client
    assert not threads_of_runs()


def test_workers_of_dask_take_intervals_by_name_and_may_leave(cluster: Any) -> None:
    """A worker with the name of a machine is that machine; one that leaves is named."""
    from distributed import Client, get_worker

    with Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(3)
        workers = client.scheduler_info()["workers"].values()
        names = sorted(str(worker["name"]) for worker in workers)
        problem = Pipeline([1.0, 1.0, 1.0], names)
        machines = [one["machine"] for one in solve(problem).answer["intervals"]]

        def noted(value: Any) -> list[str]:
            return [*value, str(get_worker().name)]

        done = run_pipeline(problem, [noted] * 3, [[]] * 5, on=client)
        assert done.results == [machines] * 5

        def dies(value: Any) -> Any:
            os._exit(1)

        with pytest.raises(ExecutionError, match=f"data set 0, on {machines[1]}, in "):
            run_pipeline(problem, [noted, dies, noted], [[]] * 5, on=client)
