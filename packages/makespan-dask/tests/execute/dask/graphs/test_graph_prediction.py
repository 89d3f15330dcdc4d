"""Planned workflows behind relays of 50, 100 and 200 Mbit/s, and Dask's own placement; slow."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import pytest

from makespan import Dag, TaskGraph
from makespan.execute import dask
from makespan.taskgraph.generate import graphs as generators
from tests.execute.dask.graphs.graphs import Slept

pytestmark = pytest.mark.slow

REPEATS = 3
SECONDS, BYTES = 0.1, 1e6  # of a mean task at speed 1, of a mean result
WORKFLOWS: dict[str, Callable[[], Dag]] = {
    "layered": lambda: generators.layered(20, rng=3),
    "fork-join": lambda: generators.fork_join(6, stages=2, rng=1),
    "gaussian-elimination": lambda: generators.gaussian_elimination(6),
    "fft": lambda: generators.fft(8),
    "stencil": lambda: generators.stencil(5, 6),
}


def graph_of(dag: Dag, prefix: str) -> tuple[dict[str, Any], list[str]]:
    """Return a graph of sleeping tasks with random bytes as results, and its exit tasks."""
    work = dag.work / dag.work.mean() * SECONDS
    size = {int(source): each for source, each in zip(dag.source, dag.size, strict=True)}
    scale = BYTES / statistics.mean(size.values())
    inputs: list[list[str]] = [[] for _ in range(len(dag))]
    for source, target in zip(dag.source.tolist(), dag.target.tolist(), strict=True):
        inputs[target].append(f"{prefix}-{source}")
    graph = {
        f"{prefix}-{task}": (Slept(float(work[task]), int(scale * size.get(task, 0.0))), *before)
        for task, before in enumerate(inputs)
    }
    return graph, [f"{prefix}-{task}" for task in range(len(dag)) if task not in size]


def test_lines_are_measured_by_watching(star_client: Any) -> None:
    """The relay shapes what a worker sends: rates come from what Dask's own run sent."""
    graph, keys = graph_of(generators.stencil(6, 6), "probe")
    problem = dask.measure(graph, star_client, keys=keys)
    assert problem.contention == "links"
    rates = [rate for start, _, rate in problem.network.one_way_links if start != "switch"]
    assert [rate * 8e-6 for rate in rates] == pytest.approx([50, 100, 200], rel=0.25)


def test_later_calls_are_planned_where_that_pays(star_client: Any) -> None:
    """Behind slow links: the first is Dask's, then one is planned, and results are the same."""
    dask.forget(star_client)
    graph, keys = graph_of(generators.stencil(6, 6), "later")
    found = [dask.compute(graph, star_client, keys=keys, progress=False) for _ in range(4)]
    assert found[0].plan is None
    assert any(each.plan is not None for each in found[1:]), [each.events for each in found]
    assert all(each.results == found[0].results for each in found)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_planned_workflow_is_not_slower(name: str, star_client: Any) -> None:
    """At least as fast as Dask's own placement; medians."""
    dag = WORKFLOWS[name]()
    graph, keys = graph_of(dag, "planned")
    problem = dask.measure(graph, star_client, keys=keys)
    assert isinstance(problem, TaskGraph)
    plan = dask.plan_graph(problem)
    ratios = []
    for repeat in range(REPEATS):
        execution = dask.compute(graph, star_client, plan=plan, keys=keys, progress=False)
        start = time.perf_counter()
        results = star_client.get(*graph_of(dag, f"own{repeat}"))
        ratios.append((time.perf_counter() - start) / execution.seconds)
        assert execution.results == results
    assert statistics.median(ratios) >= 1.0, ratios
