"""Partitions: tables and functions, by tasks and by resources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.limit_problems.family import Family
from makespan import Affine, Partition
from makespan.partition import generate as generators

Build = Callable[[np.random.Generator, int], Partition]


def _table(
    shape: str,
    *,
    resources: int = 0,
    tasks: int = 0,
    energy: bool = False,
    whole: bool = False,
    **fields: Any,
) -> Build:
    """Return a builder of tables; what is 0 of ``resources`` and ``tasks`` is the size."""

    def build(rng: np.random.Generator, size: int) -> Partition:
        draw = generators.FAMILIES[shape]
        rows, count = resources or size, tasks or size
        costs = draw(rng, rows, count)
        energies = draw(rng, rows, count) if energy else None
        if whole:
            costs = np.round(costs)
            energies = None if energies is None else np.round(energies)
        return Partition(tasks=count, costs=costs, energy=energies, **fields)

    return build


def _functions(*, resources: int = 0, energy: bool = False, **fields: Any) -> Build:
    """Return a builder of affine costs; the tasks are the size, or the resources are."""

    def drawn(rng: np.random.Generator, count: int) -> list[Affine]:
        return [Affine(float(a), float(b)) for a, b in rng.uniform(0.5, 2.0, (count, 2))]

    def build(rng: np.random.Generator, size: int) -> Partition:
        count = resources or size
        energies = drawn(rng, count) if energy else None
        tasks = size if resources else 1000 * size
        return Partition(tasks=tasks, costs=drawn(rng, count), energy=energies, **fields)

    return build


def _waves(*, resources: int = 0, **fields: Any) -> Build:
    """Return a builder of functions that rise and fall."""

    def wave(slope: float, length: float) -> Callable[[Any], Any]:
        return lambda counts: slope * (counts + length * np.sin(counts / length) ** 2)

    def build(rng: np.random.Generator, size: int) -> Partition:
        costs = [wave(*row) for row in rng.uniform(0.5, 50.0, (resources, 2)).tolist()]
        return Partition(tasks=size, costs=costs, **fields)

    return build


LARGE = 3 * 10**6
HUGE = 10**12
PAIRS = ("time-then-energy", "energy-then-time")

FAMILIES = (
    *(
        Family(
            f"{shape}-{objective}", "tasks", _table(shape, resources=10, objective=objective), LARGE
        )
        for shape in ("iid", "wave", "convex", "parity")
        for objective in ("makespan", "total")
    ),
    *(
        Family(
            f"{shape}-rows", "resources", _table(shape, tasks=100, objective=objective), 3 * 10**5
        )
        for shape, objective in (("noisy-linear", "makespan"), ("monotone", "total"))
    ),
    Family("one-each", "resources", _table("iid", tasks=1), 10**6),
    Family("monotone-most", "tasks", _table("monotone", resources=10, require="most"), LARGE),
    Family(
        "deadline", "tasks", _table("wave", resources=10, deadline=100.0, require="most"), LARGE
    ),
    *(
        Family(f"prefer-{word}", "tasks", _table("iid", resources=10, prefer=word), LARGE)
        for word in ("fewest-resources", "least-total")
    ),
    Family(
        "prefer-least-rows", "resources", _table("iid", tasks=100, prefer="least-total"), 3 * 10**5
    ),
    *(
        Family(word, "tasks", _table("iid", resources=10, energy=True, objective=word), LARGE)
        for word in (*PAIRS, "pareto")
    ),
    Family(
        "pareto-whole",
        "tasks",
        _table("noisy-linear", resources=10, energy=True, whole=True, objective="pareto"),
        LARGE,
    ),
    Family(
        "pareto-rows",
        "resources",
        _table("iid", tasks=100, energy=True, objective="pareto"),
        10**5,
    ),
    Family("functions", "tasks", _functions(resources=10), HUGE),
    Family("functions-rows", "resources", _functions(), 10**5),
    Family("functions-total", "tasks", _functions(resources=10, objective="total"), HUGE),
    *(
        Family(
            f"functions-{word}", "tasks", _functions(resources=5, energy=True, objective=word), HUGE
        )
        for word in (*PAIRS, "pareto")
    ),
    Family("waves", "tasks", _waves(resources=5), HUGE),
    Family("waves-total", "tasks", _waves(resources=5, objective="total"), HUGE),
    Family("waves-least", "tasks", _waves(resources=5, prefer="least-total"), HUGE),
)
