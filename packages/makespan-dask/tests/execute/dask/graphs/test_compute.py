"""Graphs computed on a cluster inside this process."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dask import delayed

from makespan import Dag, ExecutionError, InputError, Network, TaskGraph, solve
from makespan.core.schedule import Activity
from makespan.execute import dask
from makespan.execute.dask import TasksFailed
from tests.execute.dask.graphs import graphs

MACHINES = ["0", "1", "2"]


def compute(collection: Any, client: Any, plan: Any = None, **options: Any) -> Any:
    return dask.compute(collection, client, plan=plan, progress=False, **options)


def test_a_plan_is_run_where_and_as_planned(client: Any) -> None:
    """Every task on its machine, with its number; results, and a prediction beside them."""
    plan = graphs.planned_tree(MACHINES)
    execution = compute(graphs.tree(), client, plan)
    assert execution.results == 10
    assert plan.schedule is not None
    machine_of = {
        int(item): execution.schedule.machines[machine]
        for kind, item, machine in zip(
            execution.schedule.kind,
            execution.schedule.item,
            execution.schedule.machine,
            strict=True,
        )
        if kind == Activity.COMPUTE
    }
    names = plan.problem.dag.names  # type: ignore[attr-defined]
    assert {names[task]: name for task, name in machine_of.items()} == plan.answer["machine_of"]
    assert execution.predicted == plan.makespan
    assert execution.measured > 0
    assert len(execution.errors) >= len(names)


@pytest.mark.parametrize("contention", ["none", "links", "ports"])
def test_any_contention_can_be_run(client: Any, contention: str) -> None:
    """In turn or not, all results arrive."""
    plan = graphs.planned_tree(MACHINES, width=7, contention=contention)
    execution = compute(graphs.raw_tree(7), client, plan, keys=["sum", "leaf-3"])
    assert execution.results == [28, 4]
    transfers = execution.schedule.kind == Activity.TRANSFER
    planned = plan.schedule.kind == Activity.TRANSFER  # type: ignore[union-attr]
    assert int(transfers.sum()) == int(planned.sum())


def test_the_order_of_a_machine_is_kept(client: Any, tmp_path: Path) -> None:
    """Also where a later task is ready before an earlier one: chain edges hold it."""
    folder = str(tmp_path)
    graph = {
        "far": (graphs.noted, folder, "FAR"),
        "late": (graphs.noted, folder, "LATE", "far"),
        "early": (graphs.noted, folder, "EARLY"),
        "last": (graphs.noted, folder, "LAST"),
    }
    dag = Dag({"far": 5.0, "late": 1.0, "early": 3.0, "last": 1.0}, [("far", "late", 1.0)])
    network = Network.complete(speeds=[1.0, 1.0], names=["0", "1"])
    sequence = {"0": ["far"], "1": ["late", "early", "last"]}
    plan = solve(TaskGraph(dag, network, sequence=sequence))
    execution = compute(graph, client, plan=plan, keys=["late", "early", "last"])
    assert execution.results == ["LATE", "EARLY", "LAST"]
    assert (tmp_path / "order").read_text().split() == ["FAR", "LATE", "EARLY", "LAST"]


def test_collections_are_run_by_dask_first(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """And seen then: the second call knows that its tasks are tiny; until that is forgotten."""
    monkeypatch.setattr("makespan.execute.dask.graphs.choice.TINY", 1.0)  # on any machine
    array = pytest.importorskip("dask.array")
    values = array.from_array(np.arange(24.0).reshape(6, 4), chunks=(3, 2))
    total = (values @ values.T).sum()
    expected = np.arange(24.0).reshape(6, 4)
    dask.forget(client)
    first, again = compute(total, client), compute(total, client)
    assert first.results == again.results == (expected @ expected.T).sum()
    assert first.plan is again.plan is None
    assert "run by Dask and watched" in str(first)
    assert "left to Dask: its tasks take" in str(again)
    dask.forget(client)
    assert compute(total, client).events == first.events


def test_what_dask_did_is_seen(client: Any) -> None:
    """Every task on a worker, in the order of the graph."""
    dask.forget(client)
    execution = compute(graphs.tree(4, graphs.slow_increment), client)
    schedule = execution.schedule
    computed = schedule.kind == Activity.COMPUTE
    assert sorted(schedule.item[computed]) == [0, 1, 2, 3, 4]
    assert (schedule.end - schedule.start)[computed].max() >= 0.05
    assert set(schedule.machines) == set(MACHINES)


def test_a_problem_given_by_hand_is_planned(client: Any) -> None:
    """Durations, sizes and network need not be measured."""
    problem = graphs.planned_tree(MACHINES).problem
    execution = compute([graphs.tree()], client, problem, time_limit=0.05)
    assert execution.results == [10]


def test_a_task_that_raises_is_named(client: Any) -> None:
    """With the worker's traceback; results that do not need it are kept."""
    graph = {**graphs.raw_tree(3), "leaf-1": (graphs.fails, 7), "other": (graphs.increment, 41)}
    dag = Dag.from_dask(graph)
    network = Network.complete(speeds=[1.0] * 3, names=MACHINES)
    plan = solve(TaskGraph(dag, network), method="heft")
    with pytest.raises(TasksFailed, match=r"task leaf-1: ValueError: 7 is not allowed") as caught:
        compute(graph, client, plan=plan, keys=["sum", "other"])
    assert caught.value.execution.results == [None, 42]
    assert "in fails" in caught.value.failures[0].traceback
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_task_that_raises_while_dask_places_it_is_named(client: Any) -> None:
    """Before anything is planned."""
    for call in (dask.measure, compute):
        with pytest.raises(TasksFailed, match="task bad: ValueError"):
            call({"bad": (graphs.fails, 1)}, client, keys="bad")


def test_other_tasks_are_refused(client: Any) -> None:
    """In both directions, with the nearest name."""
    plan = graphs.planned_tree(MACHINES, width=4)
    with pytest.raises(InputError, match="no task 'leaf-4'"):
        compute(graphs.tree(5), client, plan)
    with pytest.raises(InputError, match="has a task 'leaf-3'"):
        compute(graphs.tree(3), client, plan)


def test_machines_that_are_not_there_are_named(client: Any) -> None:
    """Their tasks go elsewhere; where none is there, that is said at once."""
    plan = graphs.planned_tree(["0", "nobody", "1"])
    execution = compute(graphs.tree(), client, plan)
    assert execution.results == 10
    assert execution.events == ("worker nobody is not there; Dask places its tasks elsewhere",)
    plan = graphs.planned_tree(["nobody", "none"])
    with pytest.raises(ExecutionError, match="for nobody, none; those that are there: 0, 1, 2"):
        compute(graphs.tree(), client, plan)


def test_plans_of_other_kinds_are_refused(client: Any) -> None:
    """By the kind."""
    from makespan import DivisibleLoad, Star, Worker

    plan = solve(DivisibleLoad(platform=Star([Worker(send=1.0, compute=1.0)]), load=1))
    with pytest.raises(InputError, match="'divisible'"):
        compute(graphs.tree(), client, plan)
    with pytest.raises(InputError, match="neither a Result nor a TaskGraph"):
        compute(graphs.tree(), client, 3)


def test_what_cannot_be_pickled_is_named(client: Any) -> None:
    """By its task."""
    lock = threading.Lock()
    tree = delayed(graphs.add)(delayed(lock, name="guard"), dask_key_name="sum")
    with pytest.raises(InputError, match=r"task \S+: can't be pickled"):
        compute(tree, client)


def test_coroutines_are_awaited(client: Any) -> None:
    """As Dask does."""
    assert compute({"a": (graphs.later, 1)}, client, keys="a", time_limit=0.0).results == 2


def test_measure_finds_sizes_and_seconds(client: Any) -> None:
    """Bytes as sent, at least what was slept, on each worker."""
    graph = {
        "blob-0": (bytes, 50_000),
        "blob-1": (bytes, 10_000),
        "nap-0": (graphs.nap, 0.05, "blob-0", "blob-1"),
    }
    problem = dask.measure(graph, client, keys="nap-0")
    size = dict(zip(problem.dag.names, [0.0] * 3, strict=True))
    for source, each in zip(problem.dag.source, problem.dag.size, strict=True):
        size[problem.dag.names[source]] = each
    assert 50_000 <= size["blob-0"] < 51_000
    assert 10_000 <= size["blob-1"] < 11_000
    assert problem.machines[:3] == ("0", "1", "2")
    nap = problem.durations[problem.task_named("nap-0")]
    assert (nap >= 0.05).all()


def test_plan_and_measurement_are_drawn(client: Any, tmp_path: Path) -> None:
    """One above the other, and as a page."""
    import makespan

    plan = graphs.planned_tree(MACHINES)
    execution = compute(graphs.tree(), client, plan)
    upper, lower = execution.plot()
    assert "heft" in upper.get_title(loc="left")
    assert "measured" in lower.get_title(loc="left")
    makespan.save(plan, tmp_path / "run.html", beside=execution.schedule)
    assert "leaf-0" in (tmp_path / "run.html").read_text()


def test_what_a_paused_worker_has_not_begun_is_given_to_others(client: Any) -> None:
    """A worker without memory begins nothing; nobody waits for it, even if Dask steals nothing."""
    width = 60
    plan = graphs.planned_tree(MACHINES, width=width)
    [address] = [a for a, w in client.scheduler_info()["workers"].items() if w["name"] == 1]

    def pause_from(share: float) -> None:
        client.run(_pause_from, share, workers=[address])

    client.run_on_scheduler(_steal, False)
    timers = threading.Timer(0.1, pause_from, [0.0]), threading.Timer(30, pause_from, [0.8])
    for timer in timers:
        timer.start()
    try:
        graph = graphs.raw_tree(width, graphs.slow_increment)
        execution = compute(graph, client, plan=plan, keys="sum")
        assert timers[1].is_alive(), "it waited until the worker went on"
        assert execution.results == width * (width + 1) // 2
        [event] = execution.events
        assert event.startswith("worker 1 left; ")
        assert event.endswith(" tasks are planned again")
    finally:
        timers[1].cancel()
        timers[0].join()
        pause_from(0.8)
        client.run_on_scheduler(_steal, True)


async def _steal(on: bool, dask_scheduler: Any) -> None:
    stealing = dask_scheduler.extensions["stealing"]
    await (stealing.start() if on else stealing.stop())


def _pause_from(share: float, dask_worker: Any) -> None:
    """Let a worker pause when it uses more than a share of its memory."""
    dask_worker.memory_manager.memory_pause_fraction = share
