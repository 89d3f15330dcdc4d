"""Small pipelines with all fields mixed."""

from __future__ import annotations

from typing import Any

import numpy as np

from makespan import Interconnect, Pipeline


def mixed(seed: int) -> Pipeline:
    """Return the pipeline of a seed."""
    return random_problem(np.random.default_rng(seed))


def random_problem(rng: np.random.Generator) -> Pipeline:
    """Return a small random pipeline; whole numbers where ties are to be met."""
    stages, machines = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    whole = rng.random() < 0.5

    def numbers(low: float, high: float, *shape: int) -> np.ndarray:
        drawn = rng.uniform(low, high, shape)
        return np.ceil(drawn) if whole else drawn

    columns: dict[str, Any] = {
        "data": numbers(0, 4, stages) * (rng.random(stages) < 0.8),
        "memory": numbers(0, 3, stages),
    }
    if rng.random() < 0.3:
        columns["memory_per_item"] = numbers(0, 2, stages)
    if rng.random() < 0.3:
        table = numbers(1, 9, stages, machines)
        table[rng.random((stages, machines)) < 0.1] = np.inf
        table[np.isinf(table).all(axis=1), 0] = 5.0
        columns["durations"] = table
    else:
        columns["work"] = numbers(0, 9, stages)
    of: Any = machines
    if rng.random() < 0.7:
        rate: Any = float(numbers(0.5, 3, 1)[0])
        if rng.random() < 0.5:
            rate = numbers(0.5, 3, machines, machines)
        of = Interconnect(machines, rate=rate, latency=float(rng.choice([0.0, 0.5])))
    alike = rng.random() < 0.3
    if rng.random() < 0.2:  # stages that are all the same
        columns = {name: np.repeat(column[:1], stages, axis=0) for name, column in columns.items()}
    more: dict[str, Any] = {
        "speeds": float(numbers(0.5, 4, 1)[0]) if alike else numbers(0.5, 4, machines),
        "price": numbers(0, 5, machines),
        "objective": str(
            rng.choice(["period", "period", "latency", "latency", "makespan", "price", "pareto"])
        ),
        "order": str(rng.choice(["free", "given"])),
        "overlap": bool(rng.random() < 0.5),
        "items": int(rng.integers(2, 6)),
    }
    if rng.random() < 0.6:
        more["memory"] = 6.0 if alike else numbers(1, 8, machines)
    if rng.random() < 0.3:
        more["input"], more["output"] = numbers(0, 3, 2).tolist()
        more["outside"] = numbers(0.5, 3, machines)
    if rng.random() < 0.3:
        more["in_flight"] = int(rng.integers(1, 4))
    if rng.random() < 0.3 and more["objective"] not in ("makespan", "pareto"):
        more["replicas"] = int(rng.integers(2, 4))
    for name, share, high in (
        ("period_limit", 0.25, 12),
        ("latency_limit", 0.25, 25),
        ("budget", 0.25, 9),
    ):
        if rng.random() < share:
            more[name] = float(numbers(high / 3, high, 1)[0])
    return Pipeline(columns, of, **more)
