"""``makespan.execute.dask.compute`` beside Dask's own placement, on workflows behind slow links.

``python -m benchmarks.dask_graphs [WORKFLOW]...`` runs some workflows, all without names. Real
scheduler and worker processes on this machine, behind relays that imitate links; computing is
calibrated sleeping, so that two cores do for all. All strategies run in turn, repeat after repeat,
and are compared within a repeat. Wall-clock seconds until all results are at the client.
"""

from __future__ import annotations

import re
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.table import Table
from makespan import Dag, Result
from makespan.execute import dask
from makespan.execute.dask import Execution
from makespan.taskgraph.generate import graphs as generators
from tests.execute.dask.graphs.graphs import Slept
from tests.execute.stars import Link, star_of

REPEATS = 5
RATES = (50.0, 100.0, 200.0)
WORK = 0.1  # seconds of a mean task at speed 1
SIZE = 1_000_000  # bytes of a mean result that somebody needs

WORKFLOWS: dict[str, Callable[[], Dag]] = {
    "layered": lambda: generators.layered(24, rng=3),
    "fork-join": lambda: generators.fork_join(8, stages=2, rng=1),
    "gaussian-elimination": lambda: generators.gaussian_elimination(7),
    "cholesky": lambda: generators.cholesky(4),
    "fft": lambda: generators.fft(8),
    "stencil": lambda: generators.stencil(6, 6),
}


@dataclass(slots=True)
class Workflow:
    """A graph of sleeping tasks."""

    dag: Dag
    work: list[float]
    size: list[int]

    @classmethod
    def of(cls, dag: Dag) -> Workflow:
        """Scale works and sizes; the size of a result is that of the first edge from its task."""
        work = dag.work / dag.work.mean() * WORK
        size = np.zeros(len(dag))
        size[dag.source[::-1]] = dag.size[::-1]
        size *= SIZE / size[size > 0].mean()
        return cls(dag, work.tolist(), [max(100, int(each)) for each in size])

    def graph(self, prefix: str) -> tuple[dict[str, Any], list[str]]:
        """Return a Dask graph, keys named by prefix and kind, and the keys of its exit tasks."""
        dag = self.dag
        names = [
            f"{prefix}{re.sub('[^a-z]', '', name)}-{task}" for task, name in enumerate(dag.names)
        ]
        inputs: list[list[str]] = [[] for _ in names]
        for source, target in zip(dag.source.tolist(), dag.target.tolist(), strict=True):
            inputs[target].append(names[source])
        graph = {
            name: (Slept(self.work[task], self.size[task]), *inputs[task])
            for task, name in enumerate(names)
        }
        sources = set(dag.source.tolist())
        return graph, [name for task, name in enumerate(names) if task not in sources]


@dataclass(slots=True)
class Measured:
    """The seconds of each strategy, repeat by repeat, and the errors of the predictions."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    errors: list[float] = field(default_factory=list)


def round_robin(client: Any, graph: Mapping[str, Any], keys: list[str]) -> None:
    """Pin the tasks to the workers in turn, in the order of the graph."""
    import dask as library

    workers = sorted(client.nthreads())
    place = {key: workers[number % len(workers)] for number, key in enumerate(graph)}
    with library.annotate(workers=place.__getitem__, allow_other_workers=False):
        client.get(dict(graph), keys)


def compared(workflow: Workflow, client: Any) -> Measured:
    """Run all strategies in turn."""
    found = Measured()
    graph, keys = workflow.graph("planned")
    plan: Result = dask.plan_graph(dask.measure(graph, client, keys=keys))
    dask.compute(graph, client, plan=plan, keys=keys, progress=False)
    warm = workflow.graph("warm")
    client.get(*warm)

    def ours() -> Execution:
        return dask.compute(graph, client, plan=plan, keys=keys, progress=False)

    for repeat in range(REPEATS):
        cold, pinned = workflow.graph(f"cold{repeat}"), workflow.graph("pinned")
        for name, strategy in (
            ("compute", ours),
            ("Dask, cold", lambda cold=cold: client.get(*cold)),
            ("Dask, warm", lambda: client.get(*warm)),
            ("round robin", lambda pinned=pinned: round_robin(client, *pinned)),
        ):
            start = time.perf_counter()
            answer = strategy()
            found.seconds.setdefault(name, []).append(time.perf_counter() - start)
            if isinstance(answer, Execution):
                assert answer.error is not None
                found.errors.append(answer.error)
            time.sleep(0.2)  # until everything is released
    return found


def compare(names: list[str]) -> None:
    """Measure workflows, and print a table: medians, and ratios paired by repeat."""
    from distributed import Client

    table = Table(
        "dask_graphs",
        "Task graphs on Dask: planned, and placed by Dask",
        "Three workers behind links of 50, 100 and 200 Mbit/s (relays), computing by sleeping at "
        f"speeds 1, 1.5 and 2.5; a mean task takes {WORK:g} s at speed 1, a mean result has "
        f"{SIZE / 1e6:g} MB. {REPEATS} repeats, strategies in turn. `seconds`: median until all "
        "results are at the client; the graph was measured and planned before. `against compute`: "
        "median over the repeats of its seconds divided by those of `compute` in the same repeat; "
        "above 1, `compute` is faster. Dask is `warm` where it has seen tasks of these names. "
        "`error`: measured makespan over the predicted one, less 1: median (farthest).",
        ("workflow", "strategy", "seconds", "range", "against compute", "error"),
        clock="wall-clock time",
    )
    with (
        star_of([Link(rate=rate) for rate in RATES]) as cluster,
        Client(cluster.address, set_as_default=False) as client,
    ):
        client.wait_for_workers(len(RATES))
        for name in names:
            workflow = Workflow.of(WORKFLOWS[name]())
            found = compared(workflow, client)
            _rows(table, f"{name}, {len(workflow.dag)} tasks", found)
    if names == list(WORKFLOWS):
        table.write()


def _rows(table: Table, workflow: str, found: Measured) -> None:
    base = found.seconds["compute"]
    for strategy, taken in found.seconds.items():
        error = ""
        if strategy == "compute":
            farthest = max(found.errors, key=abs)
            error = f"{100 * statistics.median(found.errors):+.1f} % ({100 * farthest:+.1f} %)"
        table.add(
            workflow,
            strategy,
            f"{statistics.median(taken):.2f}",
            f"{min(taken):.2f} to {max(taken):.2f}",
            f"{statistics.median(a / b for a, b in zip(taken, base, strict=True)):.2f}×",
            error,
        )


if __name__ == "__main__":
    compare([name for name in WORKFLOWS if name in sys.argv[1:]] or list(WORKFLOWS))
