"""Independent tasks on identical machines: the families of França and of Frangioni.

``python -m benchmarks.frangioni [SECONDS]``: durations are whole numbers from 1 to 100, 1,000 or
10,000. *Uniform* (França et al. 1994): of equal chance. *Non-uniform* (Frangioni, Necciari and
Scutellà 2004): 98 % from 0.9 (b - a) to b, the others from a to 0.2 (b - a). The published files
are not part of this repository; these are drawn by the same rules, from a seed of ours. *Floats*:
from 1 to 100, without a common unit.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator, Mapping

import numpy as np

from benchmarks.table import Table
from makespan import IndependentTasks, solve

MACHINES, TASKS, LONGEST = (5, 10, 25), (50, 100, 500, 1000), (100, 1000, 10_000)
FAMILIES = ("uniform", "non-uniform", "floats")
EACH, OF_FLOATS = 10, 3
LIMIT = 10.0

Key = tuple[str, int, int, int, int]
"""Family, machines, tasks, the longest duration, and which of its kind."""


def problem(family: str, machines: int, tasks: int, longest: int, seed: int) -> IndependentTasks:
    """Return one problem of a family."""
    rng = np.random.default_rng([FAMILIES.index(family), machines, tasks, longest, seed])
    if family == "floats":
        return IndependentTasks(machines, rng.uniform(1, longest, tasks))
    durations = rng.integers(1, longest, tasks, endpoint=True)
    if family == "non-uniform":
        width, few = longest - 1, round(0.02 * tasks)
        durations = rng.integers(int(0.9 * width), longest, tasks, endpoint=True)
        durations[:few] = rng.integers(1, int(0.2 * width), few, endpoint=True)
    return IndependentTasks(machines, durations)


def keys(each: int = EACH) -> Iterator[Key]:
    """Yield what says which problem is meant, of each."""
    for family in FAMILIES:
        real = family == "floats"
        yield from itertools.product(
            (family,),
            MACHINES,
            TASKS,
            LONGEST[: 1 if real else 3],
            range(OF_FLOATS if real else each),
        )


def measured(key: Key, limit: float = LIMIT) -> tuple[float, float]:
    """Return the gap, 0 where the plan is proved, and the seconds."""
    drawn = problem(*key)
    started = time.perf_counter()
    found = solve(drawn, time_limit=limit)
    spent = time.perf_counter() - started
    return (0.0 if found.status == "optimal" else found.gap or 0.0), spent


def write(found: Mapping[Key, tuple[float, float]], limit: float = LIMIT) -> None:
    """Print and write the table."""
    table = Table(
        "frangioni",
        "Independent tasks on identical machines: proved by `auto`",
        f"Whole durations up to 100, 1,000 and 10,000, {TASKS[0]} to {TASKS[-1]} tasks, {EACH} "
        f"problems of each size; floats from 1 to 100, {OF_FLOATS} of each. {limit:g} s for each. "
        "Gap: of what is not proved, to the bound.",
        ("family", "machines", "proved", "largest gap", "median time", "longest"),
        clock="wall-clock time",
    )
    for family, machines in itertools.product(FAMILIES, MACHINES):
        every = [each for key, each in found.items() if key[:2] == (family, machines)]
        gaps, times = zip(*every, strict=True)
        proved = sum(gap == 0 for gap in gaps)
        cells = (f"{proved} of {len(gaps)}", f"{100 * max(gaps):.4f} %")
        table.add(family, machines, *cells, float(np.median(times)), max(times))
    table.write()


def main(limit: float = LIMIT) -> None:
    """Measure all."""
    write({key: measured(key, limit) for key in keys()}, limit)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
