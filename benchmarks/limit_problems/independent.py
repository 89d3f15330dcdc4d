"""Independent tasks: many tasks, many machines, hard ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.limit_problems.family import Family
from makespan import IndependentTasks
from makespan.independent.generate import generate


def _tasks(machines: int, **options: Any) -> Callable[[np.random.Generator, int], Any]:
    return lambda rng, size: generate(rng, tasks=size, machines=machines, **options)


def _machines(share: float, **options: Any) -> Callable[[np.random.Generator, int], Any]:
    """Return a builder with ``share`` tasks a machine."""
    return lambda rng, size: generate(
        rng, machines=size, tasks=max(1, int(share * size)), **options
    )


def _bare(rng: np.random.Generator, size: int) -> IndependentTasks:
    return IndependentTasks(machines=size, durations=rng.uniform(1.0, 2.0, 2))


FAMILIES = (
    Family("uniform", "tasks", _tasks(8), 10**7),
    Family("whole", "tasks", _tasks(8, distribution="whole", mean=1000.0), 10**7),
    Family("pareto", "tasks", _tasks(100, distribution="pareto"), 10**7),
    Family("many-machines", "machines", _machines(3.5), 10**6),
    Family("few-tasks", "machines", _bare, 10**6),
    Family("triplets", "machines", _machines(3, distribution="triplets", mean=1000.0), 10**6),
    Family("preemptive", "tasks", _tasks(8, preemptive=True), 10**7),
    Family("preemptive-machines", "machines", _machines(3.5, preemptive=True), 10**6),
)
