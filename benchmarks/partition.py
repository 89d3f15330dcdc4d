"""Partition: the threshold search against a read of the table and against the published table."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.table import Table, cpu_seconds, ratio
from makespan.core.control import Control
from makespan.core.costs import Affine
from makespan.partition.methods.dynamic_programming import dynamic_programming
from makespan.partition.methods.monotone import monotone
from makespan.partition.methods.pareto import pareto
from makespan.partition.methods.threshold import threshold
from makespan.partition.methods.total import total
from makespan.partition.problem import Partition

SIZES = ((10, 1_000), (100, 10_000), (100, 100_000), (1000, 100_000))
FAMILIES = ("iid", "noisy linear", "wave", "monotone")
TABLE_UP_TO = 10_000
"""The published table is run up to this many tasks; at 10^5 it takes minutes."""


def costs_of(family: str, resources: int, tasks: int, seed: int = 0) -> np.ndarray:
    """Return a table of costs, one row per resource, for the counts 0 to ``tasks``."""
    generator = np.random.default_rng(seed)
    counts = np.arange(tasks + 1)
    slope = generator.uniform(0.5, 3.0, (resources, 1))
    shape = (resources, tasks + 1)
    if family == "iid":
        return generator.random(shape) * tasks
    if family == "noisy linear":
        noise = generator.standard_normal(shape)
        noise *= 0.1
        noise += 1.0
        return np.abs(noise * slope * counts)
    if family == "wave":
        return slope * (counts + 0.1 * tasks * np.sin(counts / 50 * slope) ** 2)
    if family == "monotone":
        return np.cumsum(generator.random(shape), axis=1) * slope
    if family == "parity":  # half of the even counts are cheap, the odd ones dear
        costs = 1.0 + generator.random(shape)
        even = generator.random((resources, (tasks + 2) // 2))
        even[:, 1:][generator.random((resources, (tasks + 2) // 2 - 1)) < 0.5] = 5.0
        costs[:, ::2] = even
        return costs
    raise ValueError(family)


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
        "energy, over the first 5 s of the front. `monotone`: affine costs, no table.",
        ("costs", "n", "T", "what", "CPU time"),
    )
    for family in FAMILIES:
        costs = costs_of(family, 100, 10_000)
        problem = Partition(tasks=10_000, costs=costs, objective="total")
        total(problem, Control())
        seconds = cpu_seconds(partial(total, problem, Control()))
        table.add(family, 100, "10,000", "total", seconds)
        energy = np.ascontiguousarray(costs_of(family, 100, 10_000, seed=1)[::-1])
        problem = Partition(tasks=10_000, costs=costs, energy=energy, objective="pareto")
        points: list[int] = []

        def front(problem: Partition = problem, points: list[int] = points) -> None:
            points.append(len(pareto(problem, Control(time_limit=5.0)).details["front"]))

        seconds = cpu_seconds(front, repeat=1)
        table.add(family, 100, "10,000", "point", seconds / points[0])
    per_unit = np.random.default_rng(0).uniform(1e-4, 1e-3, 1000)
    problem = Partition(tasks=10**12, costs=[Affine(1.0, float(cost)) for cost in per_unit])
    monotone(problem, Control())
    seconds = cpu_seconds(lambda: monotone(problem, Control()))
    table.add("affine", 1000, f"{10**12:,}", "monotone", seconds)
    return table


def main() -> None:
    """Print and write both tables."""
    makespans().write()
    sums().write()


if __name__ == "__main__":
    main()
