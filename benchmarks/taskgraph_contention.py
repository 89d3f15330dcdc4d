"""Task graphs where transfers wait: how many small ones are proved, and how long that takes.

``python -m benchmarks.taskgraph_contention``: random layered graphs, three ratios of communication
to computation, on four networks.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from itertools import product

from benchmarks.table import Table
from makespan import Network, TaskGraph, solve
from makespan.taskgraph.generate import graphs as generators

MODELS = (
    ("overlap", "links"), ("overlap", "ports"),
    ("blocking", "none"), ("blocking", "links"), ("blocking", "ports"),
)  # fmt: skip
NETWORKS = (
    Network([1.0, 1.0, 2.0]),
    Network([1.0, 1.0, 1.0], topology="bus"),
    Network([1.0, 1.0, 2.0, 2.0], topology="star", routers=["R"]),
    Network([1.0, 1.0, 1.0], topology="ring", message_setup=0.5),
)
RATIOS = (0.5, 1.0, 5.0)
SIZES = (
    (range(3, 7), 3, RATIOS), ((10,), 1, RATIOS), ((15,), 1, RATIOS),
    ((30,), 1, (1.0,)), ((50,), 1, (1.0,)),
)  # fmt: skip
"""Tasks, seeds and ratios."""
LIMIT = 2.0
QUICK = ("heft", "peft", "mcp", "etf", "mapping-heuristic", "single-machine")


def problems(
    sizes: Sequence[int], seeds: int, ratios: Sequence[float], model: tuple[str, str]
) -> Iterator[TaskGraph]:
    """Yield the problems of some sizes under a model."""
    communication, contention = model
    for tasks, network, ratio, seed in product(sizes, NETWORKS, ratios, range(seeds)):
        dag = generators.layered(tasks, ccr=ratio, rng=seed)
        yield TaskGraph(dag, network, communication=communication, contention=contention)  # type: ignore[arg-type]


def main() -> None:
    """Print and write the table."""
    table = Table(
        "taskgraph_contention",
        "Task graphs under contention and blocking: optima",
        f"`auto` with {LIMIT:g} s: random layered graphs, communication to computation "
        f"{', '.join(f'{ratio:g}' for ratio in RATIOS)} (1 from 30 tasks on), "
        "on three machines linked each to each, on a bus, in a ring, and four on a router; "
        "wall-clock time. The last columns: how much longer than the best plan known those of the "
        "quick heuristics (the best of "
        f"{len(QUICK)}) and of local search alone are, in the mean.",
        ("tasks", "model", "proved", "median", "longest", "best heuristic", "local search"),
        clock="wall-clock time",
    )  # fmt: skip
    for warm in ("cp-sat-transfers", "local-search"):
        solve(next(problems((30,), 1, (1.0,), MODELS[0])), method=warm, time_limit=LIMIT)
    for (sizes, seeds, ratios), model in product(SIZES, MODELS):
        proved, times, quick, searched = 0, [], [], []
        for problem in problems(sizes, seeds, ratios, model):
            started = time.perf_counter()
            result = solve(problem, time_limit=LIMIT)
            times.append(time.perf_counter() - started)
            proved += result.status == "optimal"
            assert result.makespan is not None
            plans = [solve(problem, method=name).makespan for name in QUICK]
            quick.append(min(plan for plan in plans if plan is not None) / result.makespan)
            found = solve(problem, method="local-search").makespan
            assert found is not None
            searched.append(found / result.makespan)
        name = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else f"{sizes[0]}"
        over = [f"{100 * (statistics.mean(each) - 1):.1f} %" for each in (quick, searched)]
        cells = f"{proved} of {len(times)}", statistics.median(times), max(times)
        table.add(name, ", ".join(model), *cells, *over)
    table.write()


if __name__ == "__main__":
    main()
