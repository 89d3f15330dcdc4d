"""What goes wrong: workers that die or join, clients that are interrupted, bad data."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from dask import config
from distributed import Client

from makespan import DivisibleLoad, ExecutionError, InputError, Result, Star, Worker, solve
from makespan.core.schedule import Activity
from makespan.execute import dask
from makespan.execute.dask import ItemsFailed, run
from makespan.execute.dask.cluster import workers
from makespan.execute.dealing import backlog, balance, pool
from tests.execute import functions
from tests.execute.conftest import in_process, tasks_left
from tests.execute.stars import NO_LIMIT, Cluster, Link, star_of
from tests.sources import ROOT, SOURCES


def planned(count: int, rounds: int = 4, workers: tuple[str, ...] = ("w1", "w2", "w3")) -> Result:
    """A plan for tasks of 10 ms."""
    crew = [Worker(name=name, send=1e-4, compute=0.01) for name in workers]
    return solve(DivisibleLoad(platform=Star(crew), load=count, rounds=rounds))


def later(seconds: float, act: Any) -> threading.Timer:
    """Do something after a while."""
    timer = threading.Timer(seconds, act)
    timer.start()
    return timer


def test_a_dead_worker_s_chunks_are_given_to_others(cluster: Cluster, killable: Any) -> None:
    """Every item comes once, the report says who left, and nothing is left behind."""
    data = list(range(300))
    plan = planned(300)
    timer = later(0.3, lambda: cluster.kill("w2"))
    execution = run(plan, functions.slow_square, data, killable)
    timer.join()
    assert execution.results == [item * item for item in data]
    assert any("worker w2 left" in event for event in execution.events)
    assert tasks_left(killable) == []


@pytest.mark.thorough
def test_a_dead_worker_is_planned_around(cluster: Cluster, killable: Any) -> None:
    """What it had goes to the others."""
    data = functions.rows(4000)
    timer = later(0.15, lambda: cluster.kill("w3"))
    execution = dask.map(functions.slept, data, killable, batched=True, progress=False)
    timer.join()
    assert np.array_equal(execution.results, data[:, 0])
    assert tasks_left(killable) == []


def test_a_plan_for_a_worker_that_is_not_there(cluster: Cluster, killable: Any) -> None:
    """Its chunks go to those that are."""
    plan = planned(60, workers=("w1", "w2", "gone"))
    execution = run(plan, functions.slow_square, list(range(60)), killable)
    assert execution.results == [item * item for item in range(60)]
    assert execution.events[0].startswith("worker gone is not there; its ")


@pytest.fixture
def growing() -> Iterator[tuple[Any, Any]]:
    """A cluster inside this process that has one worker and may get more, and its client."""
    with in_process(1) as cluster, Client(cluster, set_as_default=False) as own:
        yield cluster, own
        assert tasks_left(own) == []


def workers_of(execution: dask.Execution) -> set[str]:
    """Return the workers that computed anything."""
    schedule = execution.schedule
    rows = schedule.rows_of(Activity.COMPUTE)
    return {schedule.machines[machine] for machine in schedule.machine[rows].tolist()}


def test_a_worker_that_joins_takes_part(growing: tuple[Any, Any]) -> None:
    """It gets of what is not sent yet."""
    cluster, client = growing
    data = list(range(300))
    timer = later(0.1, lambda: cluster.scale(2))
    execution = dask.map(functions.slow_square, data, client, progress=False)
    timer.join()
    assert execution.results == [item * item for item in data]
    assert any("worker 1 joined" in event for event in execution.events)
    assert workers_of(execution) == {"0", "1"}


@pytest.mark.thorough
def test_a_worker_that_stops_is_not_waited_for(cluster: Cluster, killable: Any) -> None:
    """In the end, others do what it has; nothing is left behind when it goes on."""
    data = list(range(300))
    stopped = cluster.workers["w2"]
    timer = later(0.5, lambda: stopped.send_signal(signal.SIGSTOP))
    began = time.monotonic()
    execution = dask.map(functions.slow_square, data, killable, progress=False)
    assert time.monotonic() - began < 10.0
    timer.join()
    assert execution.results == [item * item for item in data]
    assert any("worker w2 is late" in event for event in execution.events)
    stopped.send_signal(signal.SIGCONT)
    assert tasks_left(killable) == []
    assert held(killable) == []


@pytest.mark.thorough
def test_what_is_done_twice_comes_once(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much of it was given to others too early."""
    monkeypatch.setattr(backlog, "LATE", 0.3)
    for module in (backlog, balance):
        monkeypatch.setattr(module, "MIN_LATE", 0.0)
    late = 0
    for _ in range(5):
        execution = dask.map(functions.slow_square, range(100), client, progress=False)
        assert execution.results == [item * item for item in range(100)]
        late += len(execution.events)
    assert late > 0
    with pytest.raises(ItemsFailed, match="failed on 1 of 100"):
        dask.map(functions.fails_on_seven, range(100), client, progress=False)


@pytest.mark.thorough
def test_an_item_that_kills_workers_is_given_up(
    cluster: Cluster, killable: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once it is known to be the one, it is a failure like any other; all others are kept."""
    monkeypatch.setattr(pool, "MAX_LOSSES", 1)
    data = [0, 1, 13, 3, 4]
    with pytest.raises(ItemsFailed, match="1 workers died while they had it") as caught:
        dask.map(functions.suicidal, data, killable, progress=False)
    assert caught.value.execution.results == [0, 1, None, 3, 4]


@pytest.mark.thorough
def test_all_workers_gone_is_an_error_with_what_there_is(
    cluster: Cluster, killable: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After some patience the run ends, and its results until then are kept."""
    monkeypatch.setattr(workers, "PATIENCE", 0.5)

    def kill_all() -> None:
        for name in ("w1", "w2", "w3"):
            cluster.kill(name)

    plan = planned(300)
    timer = later(0.4, kill_all)
    with pytest.raises(ExecutionError, match="no worker is left") as caught:
        run(plan, functions.slow_square, list(range(300)), killable)
    timer.join()
    execution = caught.value.execution
    assert len(execution.results) == 300
    assert all(r in (None, item * item) for item, r in enumerate(execution.results))


INTERRUPTED = """
import os, signal, sys
from distributed import Client
from makespan.execute.dask import run
from tests.execute import functions
from tests.execute.dask.test_faults import planned

client = Client(sys.argv[1], set_as_default=False)
data = functions.rows(4000)
plan = planned(4000)
for moment in (0.0, 0.2, 0.5):
    asked = []

    def interrupt(share, what):
        if share >= moment and not asked:
            asked.append(share)
            os.kill(os.getpid(), signal.SIGINT)

    try:
        run(plan, functions.slept, data, client, batched=True, progress=interrupt)
    except KeyboardInterrupt:
        left = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
        print("interrupted", left, flush=True)
"""


def held(client: Any) -> list[str]:
    """Return what lies on the workers; what the scheduler frees may take a moment to go."""
    for _ in range(100):
        found = client.run(lambda dask_worker: [*dask_worker.data])
        left = [key for keys in found.values() for key in keys]
        if not left:
            break
        time.sleep(0.05)
    return left


@pytest.mark.thorough
@pytest.mark.usefixtures("usual_signals")
@pytest.mark.parametrize("rate", [NO_LIMIT, pytest.param(20.0, marks=pytest.mark.slow)])
def test_an_interrupted_client_leaves_nothing(rate: float) -> None:
    """Ctrl-C reaches the caller when the scheduler has no task left, nor any worker a chunk."""
    with (
        star_of([Link(rate=rate)] * 3) as cluster,
        Client(cluster.address, set_as_default=False) as own,
    ):
        own.wait_for_workers(3)
        found = interrupted(cluster.address)
        assert found.stdout == "interrupted 0\n" * 3, found.stderr
        assert found.returncode == 0, found.stderr
        assert tasks_left(own) == []
        assert held(own) == []


def interrupted(address: str) -> subprocess.CompletedProcess[str]:
    """Run a client that is interrupted again and again."""
    return subprocess.run(
        [sys.executable, "-c", INTERRUPTED, address],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": SOURCES},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_without_a_worker_measuring_fails_and_a_map_waits() -> None:
    """A plan is for workers that are there; whoever maps, waits as Dask does, unless told."""
    with star_of([]) as empty, Client(empty.address, set_as_default=False) as own:
        for attempt in (
            lambda: dask.calibrate(functions.squared, [1, 2], own),
            lambda: run(planned(2, rounds=1), functions.squared, [1, 2], own),
        ):
            with pytest.raises(ExecutionError, match="has no worker"):
                attempt()
        with (
            config.set({"distributed.scheduler.no-workers-timeout": "100ms"}),
            pytest.raises(ExecutionError, match=r"none came in 0\.1 s"),
        ):
            dask.map(functions.squared, [1, 2], own, progress=False)
        assert tasks_left(own) == []
        timer = later(0.2, lambda: empty.add("late"))
        assert dask.map(functions.squared, [1, 2], own, progress=False).results == [1, 4]
        timer.join()


@pytest.mark.thorough
def test_one_worker_does_it_all() -> None:
    """There is nothing to divide, and it works."""
    with star_of([Link()]) as one, Client(one.address, set_as_default=False) as own:
        own.wait_for_workers(1)
        data = list(range(100))
        execution = dask.map(functions.squared, data, own, progress=False)
        assert execution.results == [item * item for item in data]


def test_data_that_cannot_be_pickled_is_named(client: Any) -> None:
    """At once where it is the first item, else when its chunk is sent; by its place."""
    crew = [Worker(name=str(index), send=1e-4, compute=1e-3) for index in range(3)]
    plan = solve(DivisibleLoad(platform=Star(crew), load=10))
    with pytest.raises(InputError, match=r"data\[0\]: can't be pickled"):
        run(plan, functions.squared, [threading.Lock()] * 10, client)
    data = [*range(8), threading.Lock(), 9]
    with pytest.raises(InputError, match=r"data\[8\]: can't be pickled"):
        run(plan, functions.squared, data, client)
    with pytest.raises(InputError, match="function: can't be pickled"):
        run(plan, functions.locked(), list(range(10)), client)


def test_a_closed_client_is_refused(local: Any) -> None:
    """Instead of waiting for what can't come."""
    own = Client(local, set_as_default=False)
    own.close()
    with pytest.raises(InputError, match="client: is closed"):
        run(planned(3), functions.squared, [1, 2, 3], own)


def test_distributed_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the error says what to install."""
    from makespan import MissingExtra

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"makespan\[dask\]"):
        dask.map(functions.squared, [1])


@pytest.mark.slow
def test_killing_a_worker_at_any_moment_loses_nothing() -> None:
    """Fifty times: every item once, no hang, and a clear report."""
    generator = np.random.default_rng(8)
    with (
        star_of([Link(rate=200)] * 3) as cluster,
        Client(cluster.address, set_as_default=False) as own,
    ):
        own.wait_for_workers(3)
        for turn in range(50):
            names = sorted(worker["name"] for worker in known_workers(own))
            victim = str(generator.choice(names))
            moment = float(generator.uniform(0.0, 1.0))
            plan = planned(240, rounds=3, workers=tuple(names))
            timer = later(moment, lambda name=victim: cluster.kill(name))
            execution = run(plan, functions.slow_square, list(range(240)), own)
            timer.join()
            assert execution.results == [item * item for item in range(240)], turn
            if moment < 0.5:
                assert any(f"worker {victim} left" in event for event in execution.events)
            assert tasks_left(own) == []
            cluster.add(f"n{turn}")
            while len({worker["name"] for worker in known_workers(own)} - {victim}) < 3:
                time.sleep(0.05)


def known_workers(client: Any) -> list[dict[str, Any]]:
    """Return what the scheduler knows of its workers."""
    found: list[dict[str, Any]] = client.run_on_scheduler(
        lambda dask_scheduler: [{"name": w.name} for w in dask_scheduler.workers.values()]
    )
    return found
