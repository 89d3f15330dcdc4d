"""Task graphs: how far the heuristics are from proven optima, and how long a proof takes.

``python -m benchmarks.taskgraph_gaps``: 25 tasks on 4 machines, 20 seeds for each ratio of
communication to computation; works and sizes are whole numbers.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from benchmarks.table import Table, shown_seconds
from makespan import Dag, Network, TaskGraph, solve
from makespan.taskgraph.generate import graphs as generators

TASKS, SPEEDS, SEEDS = 25, (1.0, 1.0, 2.0, 2.0), 20
RATIOS = (0.1, 1.0, 5.0)
LIMIT = 60.0
HEURISTICS = (
    "heft", "peft", "cpop", "lookahead", "mcp", "dls", "etf", "list-scheduling",
    "mapping-heuristic", "dominant-sequence-clustering", "linear-clustering", "edge-zeroing",
    "single-machine", "local-search",
)  # fmt: skip


def problem(seed: int, ccr: float) -> TaskGraph:
    """Return a random layered graph with whole works and sizes."""
    dag = generators.layered(TASKS, ccr=ccr, rng=seed)
    whole = Dag.from_arrays(
        work=np.round(dag.work), source=dag.source, target=dag.target, size=np.round(dag.size)
    )
    return TaskGraph(whole, Network(SPEEDS))


def main() -> None:
    """Print and write the two tables."""
    solve(problem(0, 1.0), method="cp-sat")
    proofs = Table(
        "taskgraph_exact",
        "Optima of task graphs by CP-SAT",
        f"{TASKS} tasks on {len(SPEEDS)} machines, {SEEDS} seeds for each ratio of communication "
        "to computation, from the plan of HEFT; two threads, their times added.",
        ("ratio", "proved", "median", "longest"),
    )
    optimum: dict[tuple[int, float], float] = {}
    for ccr in RATIOS:
        times = []
        for seed in range(SEEDS):
            started = time.process_time()
            result = solve(problem(seed, ccr), method="cp-sat", time_limit=LIMIT)
            times.append(time.process_time() - started)
            assert result.makespan is not None
            if str(result.status) == "optimal":
                optimum[seed, ccr] = result.makespan
        proved = sum(ratio == ccr for _, ratio in optimum)
        proofs.add(f"{ccr:g}", f"{proved} of {SEEDS}", statistics.median(times), max(times))
    proofs.write()
    gaps(optimum)


def gaps(optimum: dict[tuple[int, float], float]) -> None:
    """Print and write the gaps of the heuristics to the proven optima."""
    table = Table(
        "taskgraph_gaps",
        "Heuristics for task graphs: distance to the optimum",
        f"How much longer than the proven optimum, mean (largest) over the graphs; {TASKS} tasks "
        f"on {len(SPEEDS)} machines; and how often the plan is optimal.",
        ("method", *(f"ratio {ccr:g}" for ccr in RATIOS), "optimal", "time of one"),
    )
    for method in HEURISTICS:
        over: dict[float, list[float]] = {ccr: [] for ccr in RATIOS}
        started = time.process_time()
        for (seed, ccr), best in optimum.items():
            found = solve(problem(seed, ccr), method=method).makespan
            assert found is not None
            assert found >= best * (1 - 1e-9)
            over[ccr].append(found / best - 1)
        spent = (time.process_time() - started) / len(optimum)
        cells = [f"{100 * np.mean(x):.1f} % ({100 * max(x):.0f} %)" for x in over.values()]
        met = sum(each < 1e-9 for x in over.values() for each in x)
        table.add(method, *cells, f"{met} of {len(optimum)}", shown_seconds(spent))
    table.write()


if __name__ == "__main__":
    main()
