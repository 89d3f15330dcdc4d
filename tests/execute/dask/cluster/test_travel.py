"""Scheduler and workers on which makespan is not installed."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from makespan import solve
from makespan.execute import dask, remote
from makespan.execute.dask import ItemsFailed
from makespan.execute.dask.cluster import travel
from tests.execute import functions
from tests.execute.conftest import tasks_left
from tests.execute.stars import Cluster, Link, star_of


@pytest.fixture(scope="module")
def bare() -> Iterator[Cluster]:
    """Two workers, and room for more."""
    with star_of([Link(), Link()], bare=True) as cluster:
        yield cluster


@pytest.fixture
def bare_client(bare: Cluster) -> Iterator[Any]:
    from distributed import Client

    with Client(bare.address, set_as_default=False) as own:
        own.wait_for_workers(2)
        yield own
        assert tasks_left(own) == []


def imported() -> bool:
    import makespan

    return bool(makespan)


def test_makespan_is_not_there(bare_client: Any) -> None:
    """So what the other tests say is true."""
    with pytest.raises(Exception, match=r"No module named .makespan"):
        bare_client.run(imported)
    with pytest.raises(Exception, match=r"No module named .makespan"):
        bare_client.run_on_scheduler(imported)


def test_all_that_maps_runs_there(bare_client: Any, tmp_path: Any) -> None:
    """With keywords, several sequences, retries, files, failures."""
    data = list(range(300))
    squares = [item * item for item in data]
    assert dask.map(functions.squared, data, bare_client).results == squares
    assert list(dask.imap(functions.squared, data, bare_client)) == squares
    assert dask.map(pow, [2, 3], [5, 2], bare_client, mod=7, retries=1).results == [4, 2]
    with pytest.raises(ItemsFailed, match="item 7: ValueError") as caught:
        dask.map(functions.fails_on_seven, range(9), bare_client)
    copy = pickle.loads(pickle.dumps(caught.value.execution))
    assert type(copy.failures[0]).__module__.startswith("makespan.")
    (tmp_path / "a.txt").write_text("one")
    files = dask.Files([tmp_path / "a.txt"])
    assert dask.map(functions.text_of, files, bare_client).results == [("a.txt", "one")]


def test_measuring_and_plans_run_there(bare_client: Any) -> None:
    """Costs are found, and a plan on them is carried out."""
    data = list(range(200))
    found = dask.calibrate(functions.slept_each, data[:50], bare_client, time_limit=0.05)
    plan = solve(found.problem(200, ports=1))
    assert dask.run(plan, functions.slept_each, data, bare_client).results == data


def test_a_worker_that_joins_gets_the_code(bare: Cluster, bare_client: Any) -> None:
    """Before it gets any work."""
    found = dask.imap(functions.slow_square, range(2000), bare_client)
    results = [next(found)]
    bare.add("late")
    bare_client.wait_for_workers(3)
    results += found
    assert results == [item * item for item in range(2000)]
    execution = dask.map(functions.slow_square, range(60), bare_client, workers="late")
    assert execution.platform.names == ("late",)


def test_the_code_has_a_name_of_its_own() -> None:
    """That of its text; what it sends back is known by other names, which last."""
    assert sys.modules[travel.NAME] is remote
    assert travel.NAME.encode() in pickle.dumps(remote.work)
    assert b"makespan.execute" not in pickle.dumps(remote.work)
    install, _ = travel._by_value()
    install("makespan_of_a_test", travel.TEXT)
    module = vars(sys.modules.pop("makespan_of_a_test"))
    assert module["tried"](functions.squared, 0, 3) == 9
    told = module["work"](pickle.dumps(functions.fails_on_seven), [pickle.dumps([7])], 0, False)
    assert [type(part) for part in told] == [list, tuple, float, float]
    assert [type(part) for part in told[1][0]] == [int, int, ValueError, str]
