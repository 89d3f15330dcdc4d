"""Plans when the time is up: what is still to come is reserved, and a plan is there at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from makespan import Network, Schedule, TaskGraph, check, solve
from makespan.core.control import Control
from makespan.core.numeric import jit
from makespan.core.numeric.arrays import readonly
from makespan.core.registry import find_method, methods_of
from makespan.taskgraph import timing
from makespan.taskgraph.clustering import ScheduledGraph
from makespan.taskgraph.generate import graphs as generators
from makespan.taskgraph.levels import ready_by_level
from makespan.taskgraph.list_scheduling.assigned import (
    appended,
    fallback_plan,
    is_compiled,
    on_one_machine,
)
from makespan.taskgraph.list_scheduling.insertion import inserted, inserted_by_trial
from makespan.taskgraph.list_scheduling.insertion_kernels import append_some
from makespan.taskgraph.methods import local_search
from tests.oracles.taskgraph_instances import random_problem
from tests.thorough import up_to

AT_ONCE = (
    "list-scheduling", "mapping-heuristic", "dls", "etf", "lookahead", "edge-zeroing",
    "linear-clustering", "dominant-sequence-clustering", "peft",
)  # fmt: skip


def layered(tasks: int = 300) -> TaskGraph:
    return TaskGraph(generators.layered(tasks, ccr=0.1, rng=1), Network([1.0, 1.0, 2.0]))


@pytest.mark.parametrize("method", AT_ONCE)
def test_what_comes_behind_a_method_is_reserved(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A method whose limit is all needed to time and check its plan gives one at once."""
    problem = layered()
    monkeypatch.setattr(timing, "postprocessing_seconds", lambda problem: 50.0)
    result = solve(problem, method=method, time_limit=40.0)
    assert result.makespan == fallback_plan(problem, Control()).makespan
    assert solve(problem, method=method, time_limit=1000.0).makespan != result.makespan


def test_large_graphs_have_more_behind_them() -> None:
    """The estimate grows with tasks and edges, and is small for what people draw by hand."""
    assert timing.postprocessing_seconds(layered(20)) < 1e-4
    assert timing.postprocessing_seconds(layered(600)) > 1.5 * timing.postprocessing_seconds(
        layered(300)
    )


@pytest.mark.parametrize("method", AT_ONCE)
def test_large_graphs_are_spread_though_the_time_is_up(method: str) -> None:
    """Where no transfer waits, tasks go to the core that is free first; else to one machine."""
    problem = layered(20_000)
    assert is_compiled(problem)
    found = solve(problem, method=method, time_limit=1e-9)
    assert found.makespan < 0.6 * on_one_machine(problem).makespan
    waiting = replace(layered(6_000), contention="links")
    plan = solve(waiting, method=method, time_limit=1e-9)
    assert plan.makespan == on_one_machine(waiting).makespan


def test_what_spreads_badly_stays_on_one_machine() -> None:
    """Appending looks at no transfer: data that take long leave it behind one machine."""
    dag = generators.layered(2_000, ccr=100.0, rng=1)
    problem = TaskGraph(dag, Network([1.0, 1.0, 2.0]))
    assert appended(problem).makespan > on_one_machine(problem).makespan
    assert fallback_plan(problem, Control()).makespan == on_one_machine(problem).makespan


def test_reserving_ends_with_its_block() -> None:
    """The time is up earlier inside, and as before outside; without a limit nothing changes."""
    control = Control(time_limit=100.0)
    with control.reserving(99.0):
        assert control.remaining is not None
        assert control.remaining <= 1.0
        with control.reserving(99.0):
            assert control.expired()
    assert not control.expired()
    unlimited = Control()
    with unlimited.reserving(99.0):
        assert unlimited.remaining is None


@pytest.mark.parametrize("count", up_to(40, 150))
def test_plans_that_are_called_timed_are_timed(count: int) -> None:
    """To time a plan again that is called earliest changes nothing but the last bits."""
    called = 0
    for seed in range(count):
        problem = random_problem(seed)
        for method in methods_of("taskgraph"):
            if method.name not in ("heft", "cpop", "mcp", "peft", "lookahead", "single-machine"):
                continue
            plan = method.run(problem, Control()).schedule
            assert plan is not None
            if not plan.earliest:
                continue
            called += 1
            again = timing.retimed(problem, plan)
            assert np.allclose(again.start, plan.start, rtol=1e-12, atol=1e-12 * plan.makespan)
    assert called > 2 * count / 5


def test_large_plans_are_called_timed() -> None:
    """Compiled insertion need not be timed again, whether it came to its end or not."""
    problem = layered()
    for control in (Control(), Control(time_limit=0.0)):
        plan = find_method("taskgraph", "heft").run(problem, control).schedule
        assert plan is not None
        assert plan.earliest


def test_a_graph_without_edges_is_clustered_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clusterings are tried once at the least: that decides whether compiling pays off."""
    asked: list[float] = []

    def pays(steps: float, *_: object, **__: object) -> bool:
        asked.append(steps)
        return False

    monkeypatch.setattr(jit, "pays", pays)
    problem = TaskGraph.from_arrays(work=np.ones(1000), network=Network([1.0]))
    dag = problem.dag
    ScheduledGraph(dag, dag.work, dag.size, trials=0)
    assert max(asked) >= len(dag)


def test_kernel_appends_to_the_core_that_is_free_first() -> None:
    """The heap of cores gives what a look at each of them gives, pinned tasks included."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        cores = rng.integers(1, 4, 5)
        first_core = np.concatenate([[0], np.cumsum(cores)])
        count = 60
        tail = rng.integers(0, 5, first_core[-1]).astype(float)
        work, pinned = rng.integers(0, 4, count) * 1.0, rng.integers(-4, 5, count).clip(-1)
        expected, free = [], tail.tolist()
        for task in range(count):
            places = range(5) if pinned[task] < 0 else [pinned[task]]
            mine = [c for place in places for c in range(first_core[place], first_core[place + 1])]
            core = min(mine, key=lambda each: (free[each], each))
            expected.append((int(np.searchsorted(first_core, core, side="right")) - 1, free[core]))
            free[core] += work[task]
        machine, start, end = np.full(count, -1), np.zeros(count), np.zeros(count)
        none, table = np.zeros(0, dtype=np.int64), np.zeros((5, 5))
        read = readonly(
            np.arange(count), pinned, work, 0.0 * work, np.full(count, -1), np.zeros((0, 5)),
            np.ones(5), np.zeros(5), first_core, np.zeros(count + 1, dtype=np.int64), none,
            np.zeros(0), table, table,
        )  # fmt: skip
        append_some(*read, machine, start, end, tail)
        assert list(zip(machine.tolist(), start.tolist(), strict=True)) == expected


def test_insertion_that_is_cut_short_still_places_every_task() -> None:
    """Whatever is not inserted in time is appended; no time at all leaves nothing out."""
    problem = layered(4000)
    order = problem.dag.order
    for plan in (
        inserted(problem, Control(time_limit=0.0), order),
        inserted_by_trial(problem, Control(time_limit=0.0), order),
    ):
        assert check(problem, plan).ok


def test_local_search_takes_plans_without_copies_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where tasks may be copied and none is, no copies are looked for."""

    def unasked(problem: TaskGraph, schedule: Schedule) -> Schedule:
        raise AssertionError("there are no copies")

    monkeypatch.setattr(local_search, "first_copies", unasked)
    problem = replace(layered(30), duplication=True)
    start, found = (solve(problem, method=name) for name in ("heft", "local-search"))
    assert found.makespan < start.makespan


def test_the_highest_ready_task_is_next() -> None:
    """The heap of ranks gives what a look at all ready tasks gives, ties to the lowest."""
    for seed in range(40):
        dag = random_problem(seed).dag
        level = np.random.default_rng(seed).integers(0, 4, len(dag)).astype(float)
        waiting, expected = np.diff(dag.first_in).tolist(), []
        ready = [task for task in range(len(dag)) if not waiting[task]]
        while ready:
            task = min(ready, key=lambda each: (-level[each], each))
            ready.remove(task)
            expected.append(task)
            for successor in dag.successors[dag.first_out[task] : dag.first_out[task + 1]].tolist():
                waiting[successor] -= 1
                if not waiting[successor]:
                    ready.append(successor)
        assert ready_by_level(dag, level).tolist() == expected
