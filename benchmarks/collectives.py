"""How far plans of collectives are from their bounds.

``python -m benchmarks.collectives [reduce] [broadcast]`` runs some; all without names.
"""

from __future__ import annotations

import statistics
import sys
from typing import Any

from benchmarks.table import Table
from makespan import Reduction, solve

TIMES = ((0, 1, 0), (1, 1, 1), (0.1, 1, 0.3), (1.1, 1, 1.3), (10, 1, 0.5), (100, 1, 0.5))
MACHINES = (12, 16, 24, 32, 64)
SEGMENTS = (1, 3, 8, 24, 64)
SECONDS = 2.0
COLLECTIVES = ("reduce", "broadcast", "all-reduce", "all-gather", "reduce-scatter")


def gaps(collective: Any) -> None:
    """Write the table of one collective."""
    table = Table(
        f"collectives_{collective.replace('-', '_')}",
        f"Gaps to the bound: {collective}",
        f"Excess of the makespan over the lower bound, {SECONDS:g} s each, for "
        f"{', '.join(map(str, MACHINES))} machines by {', '.join(map(str, SEGMENTS))} segments. "
        "The last row is over all.",
        ("latency, transfer, reduce", "median", "worst", "machines, segments", "proved optimal"),
        clock="by the wall clock",
    )
    every: list[tuple[float, str, bool]] = []
    for latency, transfer, reduce in TIMES:
        found = []
        for machines in MACHINES:
            for segments in SEGMENTS:
                problem = Reduction(
                    machines=machines, segments=segments, collective=collective,
                    latency=latency, transfer=transfer, reduce=reduce,
                )  # fmt: skip
                result = solve(problem, time_limit=SECONDS)
                assert result.makespan
                assert result.lower_bound
                excess = result.makespan / result.lower_bound - 1
                found.append((excess, f"{machines}, {segments}", result.status == "optimal"))
        every += found
        table.add(f"{latency:g}, {transfer:g}, {reduce:g}", *_summary(found))
    table.add("all", *_summary(every))
    table.write()


def _summary(found: list[tuple[float, str, bool]]) -> tuple[str, ...]:
    worst = max(found)
    median = statistics.median(excess for excess, _, _ in found)
    proved = sum(optimal for _, _, optimal in found)
    return f"{median:.2%}", f"{worst[0]:.1%}", worst[1], f"{proved} of {len(found)}"


if __name__ == "__main__":
    warm = Reduction(machines=20, segments=20, latency=1, transfer=1, reduce=1)
    solve(warm, time_limit=1.0)
    for name in sys.argv[1:] or COLLECTIVES:
        gaps(name)
