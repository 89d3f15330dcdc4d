"""Reductions: the notebook's search, proven optima, large sizes, circulant graphs.

``python -m benchmarks.reduction [search] [optimum] [large] [circulant]`` runs some parts; all
without names.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.table import Table
from makespan import Reduction, Result, solve

TIMES = {"0, 1, 0": (0, 1, 0), "1, 1, 1": (1, 1, 1), "1.1, 1, 1.3": (1.1, 1, 1.3)}
LARGE = {**TIMES, "100, 1, 0.5": (100, 1, 0.5)}
METHODS = ("rarest-first", "two-tree", "chain", "binary", "binomial")
OPTIMUM_SECONDS = 60.0


def problem(n: int, m: int, times: tuple[float, float, float], **more: Any) -> Reduction:
    """Return a reduction with equal times."""
    return Reduction(
        machines=n, segments=m, latency=times[0], transfer=times[1], reduce=times[2], **more
    )


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return a result and its CPU seconds."""
    started = time.process_time()
    result = work()
    return result, time.process_time() - started


def warm_up() -> None:
    """Load the compiled kernels."""
    solve(problem(6, 3, (1, 1, 1), order="greedy"), listed=1)
    solve(problem(4, 4, (1, 1, 1)), method="branch-and-bound")
    solve(problem(200, 200, (1, 1, 1)), method="rarest-first", restarts=1)
    solve(problem(300, 300, (1, 1, 1)), method="chain")


def search() -> None:
    """The notebook's search, with all its counts."""
    table = Table(
        "reduction_search",
        "The notebook's search over destinations",
        "Least makespan under the greedy rule, with the number of optima, by columns of merged "
        "states. Plain enumeration would test the number of solutions given.",
        ("machines, segments", "times", "solutions", "makespan", "optima", "time"),
    )
    for n, m in ((4, 4), (4, 16), (5, 6), (6, 4), (7, 2), (8, 1)):
        for name, times in TIMES.items():
            given = problem(n, m, times, order="greedy")
            result, seconds = timed(lambda given=given: solve(given, listed=1000))  # type: ignore[misc]
            found = result.details["exhaustive"]
            tested = f"{found['tested']:.3g}"
            table.add(f"{n}, {m}", name, tested, result.makespan and f"{result.makespan:g}",
                      found["optimal"], seconds)  # fmt: skip
    table.write()


def optimum() -> None:
    """The true optimum, order of sends included."""
    table = Table(
        "reduction_optimum",
        "True optima by branch and bound",
        f"Proven optima with the order of sends; at most {OPTIMUM_SECONDS:g} s each.",
        ("machines, segments", "times", "status", "makespan", "bound", "time"),
    )
    sizes = ((5, 8), (6, 6), (8, 5), (6, 10), (8, 6), (5, 20), (8, 3))
    for n, m in sizes:
        for name, times in TIMES.items():
            given = problem(n, m, times)
            result, seconds = timed(
                lambda given=given: solve(  # type: ignore[misc]
                    given, method="branch-and-bound", time_limit=OPTIMUM_SECONDS
                )
            )
            table.add(f"{n}, {m}", name, result.status, f"{result.makespan:g}",
                      f"{result.lower_bound:g}", seconds)  # fmt: skip
    table.write()


def large() -> None:
    """A thousand machines and segments, and long chains."""
    table = Table(
        "reduction_large",
        "Large reductions: ratio to the bound",
        "Makespan over the lower bound; refereed. One run of rarest-first.",
        ("machines, segments", "times", "method", "ratio", "time"),
    )
    for n, m in ((1000, 1000), (8, 1000)):
        for name, times in LARGE.items():
            for method in METHODS:
                options = {"restarts": 1, "rebuilds": 0} if method == "rarest-first" else {}
                given = problem(n, m, times)
                result, seconds = timed(
                    lambda given=given, method=method, options=options: solve(  # type: ignore[misc]
                        given, method=method, **options
                    )
                )
                assert result.makespan is not None
                assert result.lower_bound
                ratio = f"{result.makespan / result.lower_bound:.4f}"
                table.add(f"{n}, {m}", name, method, ratio, seconds)
    table.write()


def circulant() -> None:
    """Round-optimal schedules at (0, 1, 0) for every number of machines."""
    started, worst = time.process_time(), 0.0
    for n in range(2, 401):
        for m in (1, 7, 20):
            result = solve(problem(n, m, (0, 1, 0)), method="circulant")
            assert result.makespan is not None
            worst = max(worst, result.makespan - (m - 1 + math.ceil(math.log2(n))))
    print(f"circulant, n = 2 to 400: furthest from the optimum {worst:g}, "
          f"{time.process_time() - started:.1f} s in all")  # fmt: skip


PARTS = {
    "search": search,
    "optimum": optimum,
    "large": large,
    "circulant": circulant,
}

if __name__ == "__main__":
    warm_up()
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
