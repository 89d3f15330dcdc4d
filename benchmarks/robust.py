"""Plans for uncertain durations beside the plan for the durations as stated."""

from __future__ import annotations

import sys
import time
from typing import Any

from benchmarks.table import Table
from makespan import Noise, Result, TaskGraph, simulate, solve
from makespan.flow.kinds import generate

GRAPHS: tuple[tuple[str, int, int], ...] = (
    ("layered", 50, 4),
    ("layered", 100, 8),
    ("layered", 300, 8),
    ("fork-join", 60, 4),
    ("gaussian-elimination", 12, 4),
    ("cholesky", 8, 8),
)
"""Family, size, machines."""
ERRORS = (0.2, 0.5)
REPETITIONS = 10_000
TESTED = 20261122
"""The seed of the scenarios that plans are tested in; no method draws from it."""


def main() -> None:
    """Print and write the table, or ``python -m benchmarks.robust 2`` only so many graphs."""
    table = Table(
        "robust",
        "Uncertain durations",
        "Every task and transfer with a gamma error of its own, CCR 0.5, speeds up to twice "
        f"as high as others; {REPETITIONS:,} fresh scenarios, simulated. `local-search` plans for "
        "the durations as stated; *as long*, the shortest of its plans from so many seeds as take "
        "as long as the slowest of the others. These are given the noise, `sample-average` once "
        "for the mean and once for the 95 % quantile: change of the mean, and of the 95 % "
        "quantile.",
        ("graph", "tasks", "machines", "error", "`local-search`: mean", "95 %",
         "as long: mean", "95 %", "`monte-carlo`: mean", "95 %", "`sample-average`: mean", "95 %",
         "`quantile=0.95`: mean", "95 %"),
    )  # fmt: skip
    for graph, size, machines in GRAPHS[: int(sys.argv[1]) if len(sys.argv) > 1 else None]:
        options = {"graph": graph, "size": size, "machines": machines, "ccr": 0.5}
        problem = generate("taskgraph", seed=1, options=options)
        assert isinstance(problem, TaskGraph)
        for error in ERRORS:
            noise = Noise("gamma", error)
            stated = _tested(solve(problem, method="local-search"), noise)
            cells, seconds = [], 0.0
            for method, more in _methods():
                started = time.process_time()
                cells.append(_tested(solve(problem, method=method, noise=noise, **more), noise))
                seconds = max(seconds, time.process_time() - started)
            cells.insert(0, _tested(_as_long(problem, seconds), noise))
            changes = [
                f"{100.0 * (value / before - 1.0):+.1f} %"
                for cell in cells
                for value, before in zip(cell, stated, strict=True)
            ]
            values = [f"{value:.1f}" for value in stated]
            table.add(graph, len(problem.dag), machines, f"{error:g}", *values, *changes)
    table.write()


def _as_long(problem: TaskGraph, seconds: float) -> Result:
    """Return the shortest plan for the stated durations that searches from seeds find by then."""
    until, best, seed = time.process_time() + seconds, solve(problem, method="local-search"), 1
    while time.process_time() < until:
        found = solve(problem, method="local-search", rng=seed)
        best, seed = min(best, found, key=_end), seed + 1
    return best


def _end(result: Result) -> float:
    assert result.makespan is not None
    return result.makespan


def _methods() -> tuple[tuple[str, dict[str, Any]], ...]:
    return (("monte-carlo", {}), ("sample-average", {}), ("sample-average", {"quantile": 0.95}))


def _tested(result: Result, noise: Noise) -> tuple[float, float]:
    simulation = simulate(result, noise=noise, repetitions=REPETITIONS, rng=TESTED)
    return simulation.mean, simulation.quantile(0.95)


if __name__ == "__main__":
    main()
