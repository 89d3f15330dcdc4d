"""Small problems, solved again and again in one process: what is not the algorithm.

python -m benchmarks.small
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

from benchmarks.table import Table
from makespan import (
    Dag,
    DivisibleLoad,
    IndependentTasks,
    Network,
    Partition,
    Reduction,
    Star,
    TaskGraph,
    Tree,
    Worker,
    solve,
)
from makespan.core.problem import Problem
from makespan.flow.kinds import generate

SECONDS = 0.5
"""CPU seconds of each repeat."""


def problems() -> Sequence[tuple[str, Problem]]:
    """Return small problems of every kind, with what they are."""
    workers = [Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0), Worker(compute=4.0)]
    chain = Dag({"A": 2.0, "B": 3.0, "C": 3.0}, [("A", "B", 1.0), ("B", "C", 1.0)])
    fork = Dag({"A": 2.0, "B": 3.0, "C": 3.0}, [("A", "B", 1.0), ("A", "C", 1.0)])
    network = Network([1.0, 1.0])
    partition = generate("partition", options={"resources": 10, "tasks": 20})
    return (
        ("star of 3 workers", DivisibleLoad(load=10.0, platform=Star(workers))),
        ("tree of 300 nodes", DivisibleLoad(load=10.0, platform=_tree(300))),
        ("4 tasks on 2 machines", IndependentTasks(machines=2, durations=[3, 3, 2, 2])),
        ("20 tasks on 10 resources", partition),
        ("4 tasks on 2 resources", Partition(tasks=4, costs=[[0, 1, 2, 4, 7], [0, 2, 3, 5, 6]])),
        ("reduction, 3 machines, 2 segments", Reduction(machines=3, segments=2, transfer=1)),
        ("chain of 3 tasks, met by a bound", TaskGraph(dag=chain, network=network)),
        ("fork of 3 tasks, met by a search", TaskGraph(dag=fork, network=network)),
    )


def _tree(nodes: int) -> Tree:
    return Tree.from_arrays(
        parent=[-1, *((node - 1) // 3 for node in range(1, nodes))],
        send_per_unit=[0.1] * nodes,
        compute_per_unit=[0.3] * nodes,
    )


def seconds_each(work: Callable[[], object]) -> float:
    """Return the CPU seconds of one call, the median of five repeats of many."""
    work()
    means = []
    for _ in range(5):
        calls, started = 0, time.process_time()
        while time.process_time() - started < SECONDS:
            work()
            calls += 1
        means.append((time.process_time() - started) / calls)
    return statistics.median(means)


def main() -> None:
    """Print and write the table."""
    table = Table(
        "small",
        "Small problems",
        "CPU time of one `solve` in a process that does many, median of five times half a second.",
        ("problem", "kind", "method", "status", "CPU time"),
    )
    for name, problem in problems():
        result = solve(problem)
        each = seconds_each(lambda problem=problem: solve(problem))  # type: ignore[misc]
        table.add(name, problem.kind, result.method, result.status, each)
    table.write()


if __name__ == "__main__":
    main()
