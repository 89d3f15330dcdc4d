"""Many rounds on 20 seeded stars: the gap to the lower bound, beside one round and UMR."""

from __future__ import annotations

import statistics
import time

import numpy as np

from benchmarks.table import Table
from makespan import DivisibleLoad, Star, lower_bound, methods, solve
from makespan.flow.result import Result

WORKERS = (5, 10, 20, 50, 100)
RATIOS = (0.8, 1.5, 5.0)
SEEDS = range(20)


def star_of(seed: int) -> tuple[Star, float, bool]:
    """Return a star, its ratio of computation to communication, and whether workers are equal.

    100 units of load; together, the workers compute a unit in about a second. ``ratio`` is how
    many seconds the workers compute for a second that the port sends, all of them busy: below 1
    the port is the bottleneck. A send costs some hundredths of a second to start, less the more
    workers there are, a computation some hundredths to a tenth. Every fifth star has equal
    workers.
    """
    generator = np.random.default_rng(seed)
    count, ratio = WORKERS[seed % len(WORKERS)], RATIOS[seed % len(RATIOS)]
    equal = seed // len(WORKERS) == seed % len(WORKERS)
    size = 1 if equal else count
    compute = np.resize(generator.uniform(0.5, 2.0, size) * count, count)
    send = np.resize(generator.uniform(0.5, 2.0, size), count)
    send /= ratio * (send / compute).sum()
    send_fixed = np.resize(generator.uniform(0.025, 0.1, size), count) / np.sqrt(count)
    compute_fixed = np.resize(generator.uniform(0.03, 0.15, size), count)
    star = Star.from_arrays(
        send_per_unit=send,
        compute_per_unit=compute,
        send_fixed=send_fixed,
        compute_fixed=compute_fixed,
    )
    return star, ratio, equal


def worse(problem: DivisibleLoad, method: str, best: Result) -> str:
    """Return by how much another method's plan ends later, where it applies and has one."""
    if not next(each for each in methods(problem) if each.name == method).applies:
        return "–"
    other = solve(problem, method=method).makespan
    assert best.makespan is not None
    return "–" if other is None else f"{100 * (other / best.makespan - 1):+.1f} %"


def main() -> None:
    """Print and write the table."""
    table = Table(
        "multi_round",
        "Many rounds on any star",
        "`gap`: of `multi-round` to the lower bound. The last three columns: how much later the "
        "best single round found, uniform multi-round, and equal workers' best number of rounds "
        "by recursion end.",
        (
            *("workers", "ratio", "equal", "makespan", "bound", "gap", "chunks", "time"),
            *("one round", "umr", "multi-installment"),
        ),
    )
    gaps = []
    for seed in SEEDS:
        star, ratio, equal = star_of(seed)
        problem = DivisibleLoad(load=100.0, platform=star, rounds="auto")
        started = time.process_time()
        best = solve(problem, method="multi-round")
        seconds = time.process_time() - started
        assert best.makespan is not None
        bound = lower_bound(problem).value
        gaps.append(1 - bound / best.makespan)
        table.add(
            len(star),
            f"{ratio:g}",
            "yes" if equal else "",
            f"{best.makespan:.3f}",
            f"{bound:.3f}",
            f"{100 * gaps[-1]:.2f} %",
            len(best.answer["chunks"]),
            seconds,
            worse(DivisibleLoad(load=100.0, platform=star), "large-load", best),
            worse(problem, "umr", best),
            worse(problem, "multi-installment", best),
        )
    median, worst = 100 * statistics.median(gaps), 100 * max(gaps)
    table.about += f" Median gap {median:.2f} %, worst {worst:.2f} %."
    print(f"median gap {median:.2f} %, worst {worst:.2f} %")
    table.write()


if __name__ == "__main__":
    main()
