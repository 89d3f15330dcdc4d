"""Reductions beside SCCL, which synthesises collectives with the solver z3.

``python -m benchmarks.reduction_sccl`` needs SCCL (https://github.com/microsoft/sccl, the package
``msccl``) and ``z3-solver``; where they are missing it says so and ends.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from benchmarks.table import Table
from makespan import Reduction, solve

SIZES = ((4, 2), (4, 4), (5, 4), (6, 4), (6, 6), (8, 4), (8, 6), (8, 8))
SECONDS = 120.0


def synthesised(n: int, m: int, answer: Any) -> None:
    """Put the least number of steps that SCCL finds, and its CPU seconds, into a queue."""
    started = time.process_time()
    topology = import_module("msccl.topologies").hub_and_spoke(n)
    collective = import_module("msccl.collectives").reduce(n, 0)
    instance = import_module("msccl.instance").Instance(None, chunks=m)
    find = import_module("msccl.strategies").solve_least_steps
    started = time.process_time()
    algorithm = find(topology, collective, base_instance=instance)
    answer.put((len(algorithm.steps), time.process_time() - started))


def within_limit(n: int, m: int) -> tuple[str, float | str]:
    """Return steps and CPU seconds of SCCL, or that it found nothing in time."""
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    child = context.Process(target=synthesised, args=(n, m, answer))
    child.start()
    child.join(SECONDS)
    if child.is_alive():
        child.kill()
        child.join()
        return "-", f"over {SECONDS:.0f} s"
    steps, seconds = answer.get(timeout=5)
    return str(steps), seconds


def ours(n: int, m: int, method: str) -> tuple[str, float]:
    """Return the optimum of the same problem and the CPU seconds."""
    problem = Reduction(machines=n, segments=m, latency=0, transfer=1, reduce=0)
    started = time.process_time()
    result = solve(problem, method=method, time_limit=SECONDS)
    proof = "" if result.status == "optimal" else f" ({result.status})"
    return f"{result.makespan:g}{proof}", time.process_time() - started


def main() -> None:
    if find_spec("msccl") is None or find_spec("z3") is None:
        sys.exit("SCCL or z3 is missing: pip install git+https://github.com/microsoft/sccl")
    for method in ("branch-and-bound", "circulant"):  # load the kernels
        ours(4, 2, method)
    table = Table(
        "reduction_sccl",
        "Reductions beside SCCL",
        "Every machine sends and receives at most one segment a step (SCCL: the topology "
        "HubAndSpoke, least steps; here: latency 0, transfer 1, reduction 0). SCCL asks z3 for one "
        "number of steps after another; here bounds refute most of them without a search. SCCL "
        "plans for any topology, but in steps that all machines share, and combining is free.",
        (
            *("machines, segments", "SCCL", "SCCL, time"),
            *("branch and bound", "time", "circulant", "time"),
        ),
    )
    for n, m in SIZES:
        table.add(
            f"{n}, {m}",
            *within_limit(n, m),
            *ours(n, m, "branch-and-bound"),
            *ours(n, m, "circulant"),
        )
    table.write()


if __name__ == "__main__":
    main()
