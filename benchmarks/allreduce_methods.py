"""With which method ``auto`` ends when it plans an all-reduce.

``python -m benchmarks.allreduce_methods ROWS.csv [--within 280] [--sample 3] [--page]``

Problems are those of :mod:`benchmarks.collectives`, networks of six topologies, and tables of
random times. A row is written as soon as it is known: a run that was stopped goes on. ``--sample
3`` takes every third problem of each family; with ``--page`` nothing is solved.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks import collectives
from benchmarks.table import Table
from makespan import Reduction, solve
from makespan.core.registry import applicability, find_method, within_reach
from makespan.reduction.generate import generate
from makespan.reduction.methods import AUTO

SECONDS = 2.0
FAMILIES = {"grid": "grid, equal times", "networks": "networks", "tables": "random tables"}
TOPOLOGIES = ("ring", "mesh", "torus", "switch", "nodes", "hypercube")
FIELDS = ("family", "problem", "method", "makespan", "bound", "status", "offered")


def problems(family: str) -> Iterator[tuple[str, Reduction]]:
    """Yield the problems of a family, with a name each."""
    if family == "grid":
        for times, machines, segments in product(
            collectives.TIMES, collectives.MACHINES, collectives.SEGMENTS
        ):
            latency, transfer, reduce = times
            yield f"{times} {machines} {segments}", Reduction(
                machines=machines, segments=segments, collective="all-reduce", latency=latency,
                transfer=transfer, reduce=reduce,
            )  # fmt: skip
        return
    spreads = (0.0, 0.5) if family == "networks" else (0.2, 0.5, 1.0)
    kinds = TOPOLOGIES if family == "networks" else (None,)
    sizes = (4, 8, 16) if family == "networks" else (3, 6, 12, 24)
    for seed, (kind, machines, segments, spread) in enumerate(
        product(kinds, sizes, (1, 4, 16), spreads)
    ):
        rng = np.random.default_rng(seed)
        yield f"{kind} {machines} {segments} {spread}", generate(
            rng, machines=machines, segments=segments, collective="all-reduce", spread=spread,
            network=kind, latency=0.5, reduce=0.5,
        )  # fmt: skip


def offered(problem: Reduction) -> list[str]:
    """Return the methods that ``auto`` has for a problem."""
    methods = [find_method("reduction", name) for name in dict.fromkeys(AUTO)]
    return [
        each.name
        for each in methods
        if applicability(each, problem).applies and within_reach(each, problem)
    ]


def run(path: Path, within: float, sample: int) -> None:
    """Solve what has no row yet, for as long as there is time; append rows."""
    until = time.monotonic() + within - SECONDS
    done = {(row["family"], row["problem"]) for row in collectives.known(path)}
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if not file.tell():
            writer.writerow(FIELDS)
        for family in FAMILIES:
            for name, problem in list(problems(family))[::sample]:
                if (family, name) in done:
                    continue
                if time.monotonic() > until:
                    print("the time is up; the next run goes on from here")
                    return
                found = solve(problem, time_limit=SECONDS)
                values = found.method, found.makespan, found.lower_bound, found.status
                writer.writerow((family, name, *values, " ".join(offered(problem))))
                file.flush()


def page(path: Path) -> None:
    """Write the table from all rows that there are."""
    rows = collectives.known(path)
    ends = Counter((row["family"], row["method"]) for row in rows)
    able = Counter(name for row in rows for name in row["offered"].split())
    table = Table(
        "allreduce_methods",
        "All-reduces: the method of the best plan",
        f"How often each method made the plan with which `auto` ended after {SECONDS:g} s: on the "
        "grid of the other tables of collectives, on networks (ring, mesh, torus, switch, nodes, "
        "hypercube), and on tables of random times.",
        ("method", *FAMILIES.values(), "all", "offered"),
        clock="by the wall clock",
    )
    for name in [name for name in dict.fromkeys(AUTO) if able[name]]:
        counts = [ends[family, name] for family in FAMILIES]
        table.add(name, *counts, sum(counts), able[name])
    sizes = [sum(row["family"] == family for row in rows) for family in FAMILIES]
    table.add("problems", *sizes, len(rows), len(rows))
    table.write()


def main() -> None:
    """Read the arguments, solve what is open, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--within", type=float, default=280.0)
    parser.add_argument("--sample", type=int, default=3)
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    if not given.page:
        run(given.rows, given.within, given.sample)
    page(given.rows)


if __name__ == "__main__":
    main()
