"""What goes wrong while a graph is computed: workers that die, clients that are interrupted."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dask import config
from distributed import Client

from makespan import Dag, ExecutionError, Network, Result, TaskGraph, solve
from makespan.execute import dask
from makespan.execute.dask.graphs.choice import SWITCH
from tests.execute.conftest import tasks_left
from tests.execute.dask.graphs import graphs
from tests.execute.stars import Cluster, Link, star_of
from tests.sources import ROOT, SOURCES

pytestmark = pytest.mark.slow  # real processes die here, each at its own pace

NAMES = ["w1", "w2", "w3"]


def layers(depth: int = 6, width: int = 6) -> tuple[dict[str, Any], str, int]:
    """Layers of slow tasks, each of which needs two of the layer above; the sum of the last."""
    graph: dict[str, Any] = {f"t-0-{i}": (graphs.slow_increment, i) for i in range(width)}
    values = [i + 1 for i in range(width)]
    for layer in range(1, depth):
        before = values
        values = [before[i] + before[(i + 1) % width] for i in range(width)]
        for i in range(width):
            inputs = (f"t-{layer - 1}-{i}", f"t-{layer - 1}-{(i + 1) % width}")
            graph[f"t-{layer}-{i}"] = (graphs.slow_add, *inputs)
    last = [f"t-{depth - 1}-{i}" for i in range(width)]
    return {**graph, "sum": (graphs.add, *last)}, "sum", sum(values)


def planned(graph: Any, contention: str = "ports", names: list[str] = NAMES) -> Result:
    """A plan in which a task takes 50 ms and a result 5 ms."""
    dag = Dag.from_dask(graph, work=lambda _: 0.05, size=lambda _: 1.0)
    network = Network.complete(speeds=[1.0] * len(names), names=names, rate=200.0)
    return solve(TaskGraph(dag, network, contention=contention), method="heft")  # type: ignore[arg-type]


@pytest.mark.parametrize("moment", [0.05, 0.2, 0.35])
@pytest.mark.parametrize("contention", ["none", "ports"])
def test_a_dead_worker_s_tasks_go_elsewhere(
    cluster: Cluster, killable: Any, moment: float, contention: str
) -> None:
    """What is lost is computed again, the result is right, the report says who left."""
    graph, key, expected = layers()
    timer = threading.Timer(moment, lambda: cluster.kill("w2"))
    timer.start()
    execution = dask.compute(
        graph, killable, plan=planned(graph, contention), keys=key, progress=False
    )
    timer.join()
    assert execution.results == expected
    event = next(event for event in execution.events if event.startswith("worker w2 "))
    assert "tasks are planned again" in event or moment == 0.05  # then nothing may be there yet
    assert tasks_left(killable) == []


def test_a_task_that_kills_its_worker_once(cluster: Cluster, killable: Any, tmp_path: Path) -> None:
    """It runs again elsewhere."""
    graph = graphs.raw_tree(6)
    graph["leaf-3"] = (graphs.suicidal_once, str(tmp_path / "marker"), 3)
    execution = dask.compute(graph, killable, plan=planned(graph), keys="sum", progress=False)
    assert execution.results == 21
    assert len(execution.events) == 1
    assert tasks_left(killable) == []


def test_all_workers_die(cluster: Cluster, killable: Any) -> None:
    """After as long without a worker as Dask shall wait that is an error, not a hang."""
    graph, key, _ = layers()

    def kill_all() -> None:
        for name in NAMES:
            cluster.kill(name)

    timer = threading.Timer(0.15, kill_all)
    timer.start()
    with (
        config.set({"distributed.scheduler.no-workers-timeout": "500ms"}),
        pytest.raises(ExecutionError, match="no worker is left"),
    ):
        dask.compute(graph, killable, plan=planned(graph), keys=key, progress=False)
    timer.join()


INTERRUPTED = """
import os, signal, sys, threading
from distributed import Client
from makespan.execute import dask
from tests.execute.dask.graphs.test_graph_faults import layers, planned
client = Client(sys.argv[1], set_as_default=False)
client.wait_for_workers(3)
graph, key, _ = layers()
plan = planned(graph)
for moment in (0.01, 0.1, 0.25):
    threading.Timer(moment, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        dask.compute(graph, client, plan=plan, keys=key, progress=False)
    except KeyboardInterrupt:
        left = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
        plugins = client.run(
            lambda dask_worker: [n for n in dask_worker.plugins if n.startswith("makespan")]
        )
        print("interrupted", left, sum(map(len, plugins.values())), flush=True)
"""


@pytest.mark.usefixtures("usual_signals")
def test_an_interrupted_client_leaves_nothing(cluster: Cluster, killable: Any) -> None:
    """When Ctrl-C reaches the caller, no task is left, and no worker conducts any more."""
    found = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, cluster.address],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": SOURCES},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert found.stdout == "interrupted 0 0\n" * 3, found.stderr
    assert tasks_left(killable) == []


def test_a_worker_that_dies_while_measured(cluster: Cluster, killable: Any) -> None:
    """That is said, nothing is left, and the others can be measured."""
    graph, key, _ = layers()
    timer = threading.Timer(0.2, lambda: cluster.kill("w2"))
    timer.start()
    with pytest.raises(ExecutionError, match="a worker was lost"):
        dask.measure(graph, killable, keys=key)
    timer.join()
    assert tasks_left(killable) == []
    problem = dask.measure(graph, killable, keys=key)
    assert set(problem.machines) - {SWITCH} == {"w1", "w3"}


def test_no_worker_is_said_at_once() -> None:
    """Neither measuring nor computing waits for workers that may never come."""
    graph = graphs.raw_tree()
    with star_of([]) as empty, Client(empty.address, set_as_default=False) as own:
        for attempt in (
            lambda: dask.measure(graph, own, keys="sum"),
            lambda: dask.compute(graph, own, plan=planned(graph), keys="sum", progress=False),
        ):
            with pytest.raises(ExecutionError, match="has no worker"):
                attempt()


def test_one_worker_computes_it_all() -> None:
    """There is nothing to send, and it works."""
    with star_of([Link()]) as one, Client(one.address, set_as_default=False) as own:
        own.wait_for_workers(1)
        execution = dask.compute(graphs.tree(), own, time_limit=0.1, progress=False)
        assert execution.results == 10


def wait_for(client: Any, names: list[str]) -> None:
    """Wait until these workers are there, and no others."""
    for _ in range(400):
        found = client.run_on_scheduler(
            lambda dask_scheduler: [str(w.name) for w in dask_scheduler.workers.values()]
        )
        if sorted(found) == sorted(names):
            return
        time.sleep(0.05)
    raise AssertionError(f"{found} instead of {names}")


def test_killing_a_worker_at_any_moment_loses_nothing() -> None:
    """Ten times, at random moments of the run."""
    generator = np.random.default_rng(3)
    graph, key, expected = layers()
    with (
        star_of([Link(rate=200)] * 3) as cluster,
        Client(cluster.address, set_as_default=False) as own,
    ):
        names = list(NAMES)
        for turn in range(10):
            wait_for(own, names)
            victim = str(generator.choice(names))
            timer = threading.Timer(float(generator.uniform(0, 0.6)), cluster.kill, [victim])
            timer.start()
            plan = planned(graph, "links", names)
            execution = dask.compute(graph, own, plan=plan, keys=key, progress=False)
            timer.join()
            assert execution.results == expected, turn
            names[names.index(victim)] = f"n{turn}"
            cluster.add(f"n{turn}")
