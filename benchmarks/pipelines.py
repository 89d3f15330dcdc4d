"""Pipelines: layers over unlike devices, and large chains.

Device sets are drawn by a seed. Layers are alike, as those of large models, but for their number; a
layer needs 1 unit of memory.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.table import Table
from makespan import Interconnect, Pipeline, Result, solve

LAYERS, LIMIT = 80, 2.0
SETS = 5
"""Sets of devices of each size."""

Row = tuple[str, ...]


def devices(seed: int, count: int, objective: str, *, linked: bool = True) -> Pipeline:
    """Return layers on unlike devices, which hold them with a third of their memory to spare."""
    rng = np.random.default_rng([seed, count])
    speeds = rng.choice([1.0, 1.5, 2.0, 3.0, 4.0, 6.0], count) * rng.uniform(0.8, 1.2, count)
    memory = rng.choice([8.0, 12.0, 16.0, 24.0, 48.0], count)
    memory = np.ceil(memory * LAYERS * 1.5 / memory.sum())
    rate = rng.choice([20.0, 50.0, 200.0], (count, count))
    rate = np.minimum(rate, rate.T)
    columns = {"work": np.ones(LAYERS), "data": np.full(LAYERS, 0.5), "memory": np.ones(LAYERS)}
    machines = Interconnect(count, rate=rate, latency=0.02) if linked else count
    return Pipeline(columns, machines, speeds=speeds, memory=memory, objective=objective)


def chain(stages: int, machines: int, fastest: int) -> Pipeline:
    """Return a long chain of unlike stages, on machines of whole speeds up to ``fastest``."""
    rng = np.random.default_rng(stages)
    work = rng.uniform(1.0, 10.0, stages)
    if fastest == 1:
        return Pipeline(work, machines)
    columns = {"work": work, "data": rng.uniform(1.0, 10.0, stages)}
    speeds = rng.integers(1, fastest, machines, endpoint=True)
    return Pipeline(columns, Interconnect(machines, rate=1.0), speeds=speeds)


def timed(problem: Pipeline, limit: float) -> tuple[Result, float]:
    """Return what ``auto`` finds, and the seconds."""
    started = time.perf_counter()
    found = solve(problem, time_limit=limit)
    return found, time.perf_counter() - started


def solved() -> Iterator[Row]:
    """Yield a row for each size: proved, the largest gap, the median time."""
    sizes = [
        (f"{LAYERS} layers over {count} devices, {objective}",
         [devices(seed, count, objective) for seed in range(SETS)], LIMIT)
        for count in (4, 8, 16) for objective in ("period", "latency")
    ]  # fmt: skip
    sizes.append(("1,000,000 stages over 1,000 identical machines", [chain(10**6, 1000, 1)], 10.0))
    sizes.append(("1,000 stages over 100 unlike machines", [chain(1000, 100, 20)], 10.0))
    for text, problems, limit in sizes:
        solve(problems[0], time_limit=limit)  # which compiles
        found = [timed(problem, limit) for problem in problems]
        proved = sum(result.status == "optimal" for result, _ in found)
        gap = max(0.0 if result.status == "optimal" else result.gap or 0.0 for result, _ in found)
        seconds = float(np.median([spent for _, spent in found]))
        yield text, f"{proved} of {len(found)}", f"{100 * gap:.2f} %", f"{seconds:.2f} s"


def write_solved() -> None:
    """Print and write the table of sizes."""
    table = Table(
        "pipelines",
        "Pipelines: what `auto` proves",
        f"Any order of machines; devices with memory and unlike links. {SETS} sets of each size, "
        f"{LIMIT:g} s for each, 10 s for the long chains. Gap: of what is not proved.",
        ("problem", "proved", "largest gap", "median time"),
        clock="wall-clock time",
    )
    for row in solved():
        table.add(*row)
    table.write()


if __name__ == "__main__":
    write_solved()
