"""Random partition problems of all shapes, small enough to enumerate."""

from __future__ import annotations

import random
from math import inf

Rows = list[dict[int, float]]


def random_row(rng: random.Random, tasks: int, shape: str) -> dict[int, float]:
    """Return one resource's ``{count: cost}``."""
    length, first = rng.randint(0, tasks + 2), rng.choice([0, 0, 0, 1, 2])
    if shape == "iid":
        return {first + k: rng.random() for k in range(length + 1)}
    if shape == "ties":
        return {first + k: float(rng.randint(0, 5)) for k in range(length + 1)}
    if shape == "monotone":
        return dict(enumerate(sorted(rng.random() for _ in range(length + 1)), start=first))
    if shape == "convex":
        step, cost, row = 0.0, rng.random(), {}
        for k in range(length + 1):
            row[first + k] = cost
            step += rng.randint(0, 8) / 8
            cost += step
        return row
    if shape == "sparse":
        counts = rng.sample(range(tasks + 4), rng.randint(1, min(4, tasks + 3)))
        return {count: rng.random() for count in counts}
    if shape == "holes":
        return {k: rng.random() if rng.random() < 0.6 else inf for k in range(length + 1)}
    return {2 * k: rng.random() for k in range(length // 2 + 1)}


SHAPES = ("iid", "ties", "monotone", "convex", "sparse", "holes", "even")


def random_problem(rng: random.Random, shape: str | None = None) -> tuple[Rows, int]:
    """Return rows and a number of tasks; without ``shape`` each row has its own."""
    tasks = rng.randint(0, 12)
    resources = rng.randint(1, 4)
    return [random_row(rng, tasks, shape or rng.choice(SHAPES)) for _ in range(resources)], tasks
