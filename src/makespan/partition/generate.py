"""Random partition problems, by the shape of their cost tables."""

from collections.abc import Callable
from typing import Any

import numpy as np

from makespan.core.inputs.rules import Mistakes, quoted, whole
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.numeric.arrays import Floats
from makespan.partition.problem import Partition

MAX_ENTRIES = 10**9

Draw = Callable[[np.random.Generator, int, int], Floats]
"""From resources and tasks to the costs of the counts 0 to ``tasks``, one row per resource."""


def _slopes(rng: np.random.Generator, resources: int) -> Floats:
    return rng.uniform(0.5, 3.0, (resources, 1))


def _iid(rng: np.random.Generator, resources: int, tasks: int) -> Floats:
    return rng.random((resources, tasks + 1)) * tasks


def _noisy_linear(rng: np.random.Generator, resources: int, tasks: int) -> Floats:
    slope = _slopes(rng, resources)
    costs: Floats = rng.standard_normal((resources, tasks + 1))
    costs *= 0.1
    costs += 1.0
    costs *= slope * np.arange(tasks + 1)
    return np.abs(costs, out=costs)


def _wave(rng: np.random.Generator, resources: int, tasks: int) -> Floats:
    slope, counts = _slopes(rng, resources), np.arange(tasks + 1)
    costs: Floats = slope * (counts + 0.1 * tasks * np.sin(counts / 50 * slope) ** 2)
    return costs


def _monotone(rng: np.random.Generator, resources: int, tasks: int) -> Floats:
    return np.cumsum(rng.random((resources, tasks + 1)), axis=1) * _slopes(rng, resources)


def _convex(rng: np.random.Generator, resources: int, tasks: int) -> Floats:
    slope = _slopes(rng, resources)
    return np.cumsum(np.sort(rng.random((resources, tasks + 1)), axis=1), axis=1) * slope


def _parity(rng: np.random.Generator, resources: int, tasks: int) -> Floats:
    costs: Floats = 1.0 + rng.random((resources, tasks + 1))
    even = rng.random((resources, tasks // 2 + 1))
    even[:, 1:][rng.random((resources, tasks // 2)) < 0.5] = 5.0
    costs[:, ::2] = even
    return costs


FAMILIES: dict[str, Draw] = {
    "iid": _iid,
    "noisy-linear": _noisy_linear,
    "wave": _wave,
    "monotone": _monotone,
    "convex": _convex,
    "parity": _parity,
}


def generate(
    rng: np.random.Generator,
    *,
    resources: int = 5,
    tasks: int = 100,
    family: str = "noisy-linear",
    energy: bool = False,  # whether every count also has an energy, drawn like the costs
    objective: Any = "makespan",  # the pairs and the front need ``energy``
) -> Partition:
    """Return a problem whose resources have tables of costs for the counts 0 to ``tasks``.

    Families are ``"iid"``: independent costs, uniform up to ``tasks`` seconds; ``"noisy-linear"``:
    between 0.5 and 3 seconds a task, with normal errors of 10 %; ``"wave"``: linear with bumps;
    ``"monotone"`` and ``"convex"``: costs that never fall, that never grow more slowly;
    ``"parity"``: half of the even counts are cheap, the odd ones dear; with an odd number of tasks
    the hardest known for the search of the least makespan. Raises ProblemError with every option
    that is not allowed.

    >>> problem = generate(np.random.default_rng(0), resources=2, tasks=3, family="convex")
    >>> problem.choices.structure()
    'monotone and convex'
    """
    mistakes = Mistakes()
    for name, value, low in (("resources", resources, 1), ("tasks", tasks, 0)):
        mistakes.number(name, value, whole(f"{name} are", low))
    if not mistakes and resources * (tasks + 1) > MAX_ENTRIES:
        mistakes.add("tasks", f"tables of {resources * (tasks + 1)} costs are too large")
    if not isinstance(family, str) or family not in FAMILIES:
        mistakes.add("family", f"{quoted(family)} is not a family{did_you_mean(family, FAMILIES)}")
    mistakes.flag("energy", energy)
    mistakes.raise_if_any()
    draw = FAMILIES[family]
    costs = draw(rng, resources, tasks)
    energies = draw(rng, resources, tasks) if energy else None
    return Partition(tasks=tasks, costs=costs, energy=energies, objective=objective)
