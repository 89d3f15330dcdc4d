"""Independent tasks on unrelated machines: the families of Fanjul-Peyró and Ruiz.

``python -m benchmarks.fanjul_peyro [SECONDS] [PUBLISHED]``: durations are whole numbers from a to b
(``U``), or from 1 to 20 more than one of each task, or of each machine, from 1 to 100 (Fanjul-Peyró
and Ruiz 2010). Their files are not part of this repository; these are drawn by the same rules, from
a seed of ours. PUBLISHED is a table of the best values of each of theirs, ``res_all_instances.csv``
of the solver RCmax (Åblad, Spensieri and Strömberg 2021): then the mean of each size stands beside
ours.
"""

from __future__ import annotations

import csv
import itertools
import sys
import time
from collections import defaultdict
from pathlib import Path
from statistics import mean

import numpy as np

from benchmarks.table import Table
from makespan import IndependentTasks, solve

FAMILIES = (
    "U1a100", "U10a100", "U100a120", "U100a200", "U1000a1100", "JobsCorre", "MaqCorre",
)  # fmt: skip
SIZES = ((100, 10), (200, 20), (500, 20), (1000, 20), (500, 30), (1000, 40), (1000, 50))
"""Tasks and machines."""
EACH, LIMIT = 1, 5.0
VALUES = ("LR value", "Gurobi value", "Cplex value")

Key = tuple[str, int, int, int]
"""Family, tasks, machines, and which of its kind."""
Found = tuple[float, float, float]
"""The makespan, its gap, 0 where it is proved, and the seconds."""


def problem(family: str, tasks: int, machines: int, seed: int) -> IndependentTasks:
    """Return one problem of a family."""
    rng = np.random.default_rng([FAMILIES.index(family), tasks, machines, seed])
    if family.startswith("U"):
        low, high = map(int, family[1:].split("a"))
        return IndependentTasks(machines, rng.integers(low, high, (tasks, machines), endpoint=True))
    each = (tasks, 1) if family == "JobsCorre" else (1, machines)
    table = rng.integers(1, 100, each, endpoint=True) + rng.integers(
        1, 20, (tasks, machines), endpoint=True
    )
    return IndependentTasks(machines, table)


def keys() -> list[Key]:
    """Return what says which problem is meant, of each."""
    each = itertools.product(FAMILIES, SIZES, range(EACH))
    return [(family, *size, seed) for family, size, seed in each]


def measured(key: Key, limit: float = LIMIT) -> Found:
    """Solve one problem."""
    drawn = problem(*key)
    started = time.perf_counter()
    found = solve(drawn, time_limit=limit)
    spent = time.perf_counter() - started
    assert found.makespan is not None
    return found.makespan, 0.0 if found.status == "optimal" else found.gap or 0.0, spent


def published(path: Path) -> dict[tuple[str, int, int], list[float]]:
    """Return the best value of each published problem, by family, tasks and machines."""
    best = defaultdict(list)
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            name = row["instance"]  # hundreds of tasks, and a number: 11 to 20 have 10 machines, …
            tens = (int(name[-2:]) - 1) // 10
            key = (row["type"], 100 * int(name[:-2]), 10 * tens)
            best[key].append(min(float(row[value]) for value in VALUES))
    return best


def write(found: dict[Key, Found], known: dict[tuple[str, int, int], list[float]]) -> None:
    """Print and write the table."""
    table = Table(
        "fanjul_peyro",
        "Independent tasks on unrelated machines: `auto`",
        f"{EACH} of each size, drawn by the rules of Fanjul-Peyró and Ruiz 2010; {LIMIT:g} s for "
        "each. Published: mean, least and greatest of the best values of ten other problems of "
        "the same rules, each the best of three solvers in 300 s to 2 h (Åblad, Spensieri and "
        "Strömberg 2021).",
        ("family", "tasks", "machines", "makespan", "gap", "seconds", "published"),
        clock="wall-clock time",
    )
    for family, (tasks, machines) in itertools.product(FAMILIES, SIZES):
        makespans, gaps, seconds = zip(
            *(each for key, each in found.items() if key[:3] == (family, tasks, machines)),
            strict=True,
        )
        theirs = known.get((family, tasks, machines), [])
        span = f"{mean(theirs):.1f} ({min(theirs):g} to {max(theirs):g})" if theirs else ""
        gap = f"{100 * mean(gaps):.2f} %" if any(gaps) else "proved"
        table.add(family, tasks, machines, f"{mean(makespans):g}", gap, mean(seconds), span)
    table.write()


def main(limit: float = LIMIT, path: str | None = None) -> None:
    """Measure all."""
    found = {key: measured(key, limit) for key in keys()}
    write(found, published(Path(path)) if path is not None else {})


if __name__ == "__main__":
    main(float(sys.argv[1]) if sys.argv[1:] else LIMIT, *sys.argv[2:3])
