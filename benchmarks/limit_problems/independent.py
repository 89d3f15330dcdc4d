"""Independent tasks: many tasks, many machines, hard ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.limit_problems.family import Family
from makespan import IndependentTasks
from makespan.independent.generate import ENVIRONMENTS, generate


def _tasks(machines: int, **options: Any) -> Callable[[np.random.Generator, int], Any]:
    return lambda rng, size: generate(rng, tasks=size, machines=machines, **options)


def _machines(share: float, **options: Any) -> Callable[[np.random.Generator, int], Any]:
    """Return a builder with ``share`` tasks a machine."""
    return lambda rng, size: generate(
        rng, machines=size, tasks=max(1, int(share * size)), **options
    )


def _bare(rng: np.random.Generator, size: int) -> IndependentTasks:
    return IndependentTasks(machines=size, durations=rng.uniform(1.0, 2.0, 2))


def _released(share: float = 0.0, **options: Any) -> Callable[[np.random.Generator, int], Any]:
    """Return a builder of tasks with releases; ``share`` tasks a machine, or eight machines."""

    def build(rng: np.random.Generator, size: int) -> IndependentTasks:
        machines = size if share else 8
        tasks = generate(
            rng, machines=machines, tasks=max(1, int(share * size)) if share else size, **options
        )
        release = rng.uniform(0.0, 100.0, len(tasks.durations))
        return IndependentTasks(
            machines,
            tasks.durations,
            speeds=tasks.speeds,
            release=release,
            preemptive=tasks.preemptive,
        )

    return build


FAMILIES = (
    Family("uniform", "tasks", _tasks(8), 10**7),
    Family("whole", "tasks", _tasks(8, distribution="whole", mean=1000.0), 10**7),
    Family("pareto", "tasks", _tasks(100, distribution="pareto"), 10**7),
    Family("many-machines", "machines", _machines(3.5), 10**6),
    Family("few-tasks", "machines", _bare, 10**6),
    Family("triplets", "machines", _machines(3, distribution="triplets", mean=1000.0), 10**6),
    Family("preemptive", "tasks", _tasks(8, preemptive=True), 10**7),
    Family("preemptive-machines", "machines", _machines(3.5, preemptive=True), 10**6),
    *(
        Family(f"{kind}{word}", "tasks", _tasks(8, environment=kind, **more), 10**6)
        for kind in ("uniform", "unrelated")
        for word, more in (("-tasks", {}), ("-preemptive", {"preemptive": True}))
    ),
    *(
        Family(f"{kind}{word}", "machines", _machines(3.5, environment=kind, **more), most)
        for kind, most in (("uniform", 10**6), ("unrelated", 5000))
        for word, more in (("-machines", {}), ("-machines-preemptive", {"preemptive": True}))
    ),
    *(
        Family(
            f"released-{kind}{'-preemptive' * cut}",
            "tasks",
            _released(environment=kind, preemptive=cut),
            10**6,
        )
        for kind in ENVIRONMENTS
        for cut in (False, True)
    ),
    *(
        Family(
            f"released-machines{'-preemptive' * cut}",
            "machines",
            _released(3.5, preemptive=cut),
            10**6,
        )
        for cut in (False, True)
    ),
)
