"""Scheduler and workers on which makespan is not installed."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from makespan import solve
from makespan.execute import dask, remote, travel
from makespan.execute.dask import ItemsFailed
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


@pytest.mark.thorough
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


def test_graphs_run_there(bare_client: Any) -> None:
    """As Dask places them, watched, and as planned: with chain edges and an order of transfers."""
    graph = {f"leaf-{leaf}": (pow, leaf, 2) for leaf in range(6)}
    graph["sum"] = (sum, list(graph))
    problem = dask.measure(graph, bare_client, keys="sum")
    assert len(problem.dag) == 7
    for plan in (None, dask.plan_graph(problem, time_limit=0.05)):
        execution = dask.compute(graph, bare_client, plan=plan, keys="sum")
        assert execution.results == 55
        assert len(execution.schedule) >= 7


@pytest.mark.thorough
def test_a_worker_that_joins_gets_the_code(bare: Cluster, bare_client: Any) -> None:
    """Before it gets any work."""
    found = dask.imap(functions.slow_square, range(500), bare_client)
    results = [next(found)]
    bare.add("late")
    bare_client.wait_for_workers(3)
    results += found
    assert results == [item * item for item in range(500)]
    execution = dask.map(functions.slow_square, range(60), bare_client, workers="late")
    assert execution.platform.names == ("late",)


def test_the_code_has_a_name_of_its_own() -> None:
    """That of its text; what is called there brings the text, all else is known by name."""
    assert sys.modules[travel.NAME] is remote
    assert travel.COMPRESSED in pickle.dumps(remote.work)
    assert len(pickle.dumps(remote.work)) < 7000
    assert travel.COMPRESSED not in pickle.dumps(remote.called)
    assert b"makespan.execute" not in pickle.dumps(remote.called)
    assert pickle.loads(pickle.dumps(remote.work)) is remote.work


ELSEWHERE = """
import pickle, sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

work, function, data, name = pickle.load(sys.stdin.buffer)
sys.setswitchinterval(1e-6)
together = Barrier(8)
with ThreadPoolExecutor(8) as pool:
    found = list(pool.map(lambda _: (together.wait(), pickle.loads(work))[1], range(8)))
assert "makespan" not in sys.modules and len({id(each) for each in found}) == 1
here = pickle.loads(pickle.dumps(found[0]))
values = here(function, data, "key", 7, 8, False)
assert here is sys.modules[name].work and pickle.dumps(here) == work
assert type(pickle.loads(function)).__module__ == name
sys.stdout.buffer.write(pickle.dumps(values))
"""


def test_where_it_lacks_a_task_brings_it() -> None:
    """A bare process, several threads of which begin at once, has it whole, and passes it on."""
    function = pickle.dumps(remote.Call(pow, {}, retries=1))
    sent = pickle.dumps(remote.work), function, [pickle.dumps([7])], travel.NAME
    bare = subprocess.run(
        [sys.executable, "-I", "-S", "-c", ELSEWHERE],
        input=pickle.dumps(sent),
        capture_output=True,
        check=False,
    )
    assert bare.returncode == 0, bare.stderr.decode()
    told = pickle.loads(bare.stdout)
    assert [type(part) for part in told] == [tuple, list, tuple, float, float, bytes]
    assert [type(part) for part in told[2][0]] == [int, int, bytes, str]
    assert "values.append(call(item))" in told[2][0][3]
