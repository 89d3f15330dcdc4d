"""Random problems of independent tasks, by the distribution of their durations."""

from collections.abc import Callable

import numpy as np

from makespan.core.inputs.rules import Mistakes, Rule, quoted, whole
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.numeric.arrays import Floats
from makespan.independent.problem import MACHINES, IndependentTasks

MAX_TASKS = 10**8

Draw = Callable[[np.random.Generator, int, float, float], Floats]


def _uniform(rng: np.random.Generator, count: int, mean: float, spread: float) -> Floats:
    share = min(spread, 1.0)
    return rng.uniform(mean * (1.0 - share), mean * (1.0 + share), count)


def _whole(rng: np.random.Generator, count: int, mean: float, spread: float) -> Floats:
    share = min(spread, 1.0)
    low, high = max(1, round(mean * (1.0 - share))), max(1, round(mean * (1.0 + share)))
    return rng.integers(low, high, count, endpoint=True).astype(np.float64)


def _lognormal(rng: np.random.Generator, count: int, mean: float, spread: float) -> Floats:
    sigma = float(np.sqrt(np.log1p(spread * spread)))
    return mean * rng.lognormal(-0.5 * sigma * sigma, sigma, count)


DISTRIBUTIONS: dict[str, Draw] = {
    "uniform": _uniform,
    "whole": _whole,
    "exponential": lambda rng, count, mean, _: rng.exponential(mean, count),
    "lognormal": _lognormal,
    "pareto": lambda rng, count, mean, _: 0.5 * mean * (1.0 + rng.pareto(2.0, count)),
}
TRIPLETS = "triplets"
ENVIRONMENTS = ("identical", "uniform", "unrelated")
FASTEST = 4


def generate(
    rng: np.random.Generator,
    *,
    machines: int = 4,
    tasks: int = 20,
    distribution: str = "uniform",
    mean: float = 10.0,  # duration, seconds
    spread: float = 1.0,
    environment: str = "identical",  # ``"uniform"`` (speeds 1 to 4), or ``"unrelated"``
    preemptive: bool = False,  # whether the tasks may be cut
    equal_counts: bool = False,  # whether all machines run equally many, but for one
) -> IndependentTasks:
    """Return tasks with random durations.

    ``distribution`` is ``"uniform"``, ``"whole"`` (uniform whole numbers), ``"exponential"``,
    ``"lognormal"``, ``"pareto"`` (heavy-tailed, with exponent 2), or ``"triplets"``: three whole
    durations for each machine whose sum is three times ``mean``, each between three quarters and
    three halves of it, so that the least makespan is known and hard to find. There ``tasks`` is not
    looked at, and machines are identical.

    ``spread``: of uniform ones half the width as a share of the mean, up to 1; of lognormal ones
    the standard deviation as a share of the mean. Raises ProblemError with every option that is not
    allowed.

    >>> tasks = generate(np.random.default_rng(0), machines=2, distribution="triplets", mean=100)
    >>> float(tasks.durations.sum()), len(tasks.durations)
    (600.0, 6)
    """
    mistakes = Mistakes()
    mistakes.number("machines", machines, MACHINES)
    mistakes.number("tasks", tasks, whole("tasks are", 0, MAX_TASKS))
    mistakes.number("mean", mean, Rule("a mean duration is above 0 seconds", strictly=True))
    mistakes.number("spread", spread, Rule("a spread is 0 or more"))
    mistakes.choice("environment", environment, ENVIRONMENTS)
    if environment != "identical" and distribution == TRIPLETS:
        mistakes.add("environment", f"{quoted(environment)} is not for triplets; it is 'identical'")
    if environment == "unrelated" and not mistakes and tasks * machines > MAX_TASKS:
        mistakes.add("tasks", f"{tasks} on {machines} machines are more than {MAX_TASKS} durations")
    known = (*DISTRIBUTIONS, TRIPLETS)
    if distribution not in known:
        hint = did_you_mean(distribution, known)
        mistakes.add("distribution", f"{quoted(distribution)} is not a distribution{hint}")
    elif distribution == TRIPLETS and not mistakes:
        if machines > MAX_TASKS // 3:
            mistakes.add("machines", f"{machines} are too many; there are three tasks for each")
        if mean < 4:
            mistakes.add("mean", f"{mean} is too small for triplets; it is 4 or more")
    mistakes.raise_if_any()
    if distribution == TRIPLETS:
        durations = _triplets(rng, machines, round(3 * mean))
    else:
        count = tasks * machines if environment == "unrelated" else tasks
        durations = DISTRIBUTIONS[distribution](rng, count, float(mean), float(spread))
    speeds = rng.integers(1, FASTEST, machines, endpoint=True) if environment == "uniform" else None
    if environment == "unrelated" and tasks:
        durations = durations.reshape(tasks, machines)
    counts = "equal" if equal_counts else None
    return IndependentTasks(
        machines, durations, speeds=speeds, preemptive=preemptive, counts=counts
    )


def _triplets(rng: np.random.Generator, machines: int, total: int) -> Floats:
    """Return, shuffled, three durations above a quarter and below a half of ``total`` a machine."""
    low, high = total // 4 + 1, (total - 1) // 2
    first = rng.integers(low, min(high, total - 2 * low), machines, endpoint=True)
    second = rng.integers(
        np.maximum(low, total - first - high), np.minimum(high, total - first - low), endpoint=True
    )
    durations = np.concatenate([first, second, total - first - second]).astype(np.float64)
    rng.shuffle(durations)
    return durations
