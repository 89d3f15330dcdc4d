"""Partition: the threshold search against a read of the table and against published methods.

The peer is HPOPTA (https://github.com/ravimanumachu/hclmpifft, folder hpopt, built with
``-include limits``); the environment variable HPOPTA names a program that calls it. Its arguments
are n, T and a file of n T doubles, row by row the costs of the counts 1 to T; count 0 costs
nothing. It prints ``RESULT makespan cpu seconds`` on its standard error, with the seconds that
the call took.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.table import Table, cpu_seconds, ratio, shown_seconds
from makespan.core.control import Control
from makespan.core.costs import Affine
from makespan.partition.generate import FAMILIES as DRAWS
from makespan.partition.methods.monotone import monotone
from makespan.partition.methods.published import dynamic_programming
from makespan.partition.methods.sums import lexicographic, pareto, total
from makespan.partition.methods.threshold import threshold
from makespan.partition.problem import Partition

SIZES = ((10, 1_000), (100, 10_000), (100, 100_000), (1000, 100_000))
FAMILIES = ("iid", "noisy linear", "wave", "monotone")
TABLE_UP_TO = 10_000
"""The published table is run up to this many tasks; at 10^5 it takes minutes."""
PEER_SECONDS = 60.0


def costs_of(family: str, resources: int, tasks: int, seed: int = 0) -> np.ndarray:
    """Return a table of costs, one row per resource, for the counts 0 to ``tasks``."""
    draw = DRAWS[family.replace(" ", "-")]
    return draw(np.random.default_rng(seed), resources, tasks)


def makespans() -> Table:
    """Compare the least makespan with one read of the table, and with the published table."""
    table = Table(
        "partition",
        "Partition: least makespan for any costs",
        "`read`: the minimum of the table, one pass. `validate`: building the problem, which "
        "checks every cost, finds structure and keeps minima of blocks. `threshold`: the search. "
        "`table`: the published O(n T²) dynamic programme, compiled, up to 10^4 tasks.",
        (
            "costs",
            "n",
            "T",
            "read",
            "validate",
            "threshold",
            "both / read",
            "table",
            "table / both",
        ),
    )
    for resources, tasks in SIZES:
        for family in FAMILIES:
            makespan_row(table, family, resources, tasks)
    makespan_row(table, "parity", 100, 99_999)
    return table


def makespan_row(table: Table, family: str, resources: int, tasks: int) -> None:
    costs = costs_of(family, resources, tasks)
    problem = Partition(tasks=tasks, costs=costs)
    found = threshold(problem, Control())
    reading = cpu_seconds(lambda: [costs.min() for _ in range(3)]) / 3
    building = cpu_seconds(lambda: Partition(tasks=tasks, costs=costs))
    searching = cpu_seconds(lambda: threshold(problem, Control()))
    both = building + searching
    filling: object = "–"
    factor = "–"
    if tasks <= TABLE_UP_TO:
        published = dynamic_programming(problem, Control())
        if published.makespan != found.makespan:
            raise AssertionError((family, resources, tasks))
        seconds = cpu_seconds(lambda: dynamic_programming(problem, Control()), repeat=1)
        filling, factor = seconds, ratio(seconds, both)
    table.add(
        family, resources, f"{tasks:,}", reading, building, searching, ratio(both, reading),
        filling, factor,
    )  # fmt: skip


def sums() -> Table:
    """Measure the least total, points of the front, and functions without a table."""
    table = Table(
        "partition_sums",
        "Partition: totals, fronts, functions",
        "`total`: the least sum of times, proved. `point`: one point of the front of time and "
        "energy, over the first 3 s of the front. `energy, then time`: the fastest of the plans "
        "of least energy. `monotone`: affine costs, no table.",
        ("costs", "n", "T", "what", "CPU time"),
    )
    for family in (*FAMILIES, "convex"):
        costs = costs_of(family, 100, 10_000)
        problem = Partition(tasks=10_000, costs=costs, objective="total")
        total(problem, Control())
        seconds = cpu_seconds(partial(total, problem, Control()))
        table.add(family, 100, "10,000", "total", seconds)
        energy = np.ascontiguousarray(costs_of(family, 100, 10_000, seed=1)[::-1])
        problem = Partition(tasks=10_000, costs=costs, energy=energy, objective="pareto")
        points: list[int] = []

        def front(problem: Partition = problem, points: list[int] = points) -> None:
            points.append(len(pareto(problem, Control(time_limit=3.0)).details["front"]))

        seconds = cpu_seconds(front, repeat=1)
        table.add(family, 100, "10,000", "point", seconds / points[0])
        pair = Partition(tasks=10_000, costs=costs, energy=energy, objective="energy-then-time")
        seconds = cpu_seconds(partial(lexicographic, pair, Control()))
        table.add(family, 100, "10,000", "energy, then time", seconds)
    per_unit = np.random.default_rng(0).uniform(1e-4, 1e-3, 1000)
    problem = Partition(tasks=10**12, costs=[Affine(1.0, float(cost)) for cost in per_unit])
    monotone(problem, Control())
    seconds = cpu_seconds(lambda: monotone(problem, Control()))
    table.add("affine", 1000, f"{10**12:,}", "monotone", seconds)
    return table


def beside_the_peer() -> None:
    """HPOPTA on the same tables, where the environment names it."""
    program = os.environ.get("HPOPTA")
    if program is None:
        print("HPOPTA is not set: the comparison with HPOPTA is skipped")
        return
    table = Table(
        "partition_peer",
        "Partition: threshold and HPOPTA",
        "`threshold` includes building the problem. HPOPTA, the published branch and bound, is "
        f"stopped after {PEER_SECONDS:.0f} s; where it ended, the makespans are equal to the bit. "
        "Count 0 costs nothing.",
        ("costs", "n", "T", "threshold", "HPOPTA", "times"),
    )
    for resources, tasks in SIZES[:3]:
        for family in FAMILIES:
            costs = costs_of(family, resources, tasks)
            costs[:, 0] = 0.0

            def ours(tasks: int = tasks, costs: np.ndarray = costs) -> float:
                return threshold(Partition(tasks=tasks, costs=costs), Control()).makespan

            found, fast = ours(), cpu_seconds(ours)
            theirs = _peer(program, costs)
            if theirs is None:
                table.add(family, resources, f"{tasks:,}", fast,
                          f"over {shown_seconds(PEER_SECONDS)}", "–")  # fmt: skip
                continue
            if theirs[0] != found:
                raise AssertionError((family, resources, tasks, found, theirs[0]))
            table.add(family, resources, f"{tasks:,}", fast, theirs[1], ratio(theirs[1], fast))
    table.write()


def _peer(program: str, costs: np.ndarray) -> tuple[float, float] | None:
    """Return the peer's makespan and CPU seconds, None where it did not end in time."""
    resources, counts = costs.shape
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "costs.bin"
        np.ascontiguousarray(costs[:, 1:]).tofile(path)
        try:
            ended = subprocess.run(
                [program, str(resources), str(counts - 1), str(path)],
                capture_output=True,
                text=True,
                check=True,
                timeout=PEER_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return None
    words = next(line for line in ended.stderr.splitlines() if "RESULT" in line).split()
    return float(words[words.index("RESULT") + 1]), float(words[words.index("cpu") + 1])


PARTS = {
    "makespan": lambda: makespans().write(),
    "sums": lambda: sums().write(),
    "peer": beside_the_peer,
}


def main() -> None:
    """Print and write the tables."""
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main()
