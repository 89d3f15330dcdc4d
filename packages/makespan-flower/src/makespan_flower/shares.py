"""The shares of a round: a partition of its batches over clients, and what no shares beat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from makespan import Partition, solve
from makespan_flower.costs import Floats

Integers = NDArray[np.int64]
Objective = Literal["time", "energy"]
LIMIT = 2.0  # seconds for a plan, which takes milliseconds
CORNERS = 256  # of the staircase that stands below a front


class Table(NamedTuple):
    """What clients take for 0, 1, … batches, a row each, and the least and most of each."""

    seconds: Floats
    energy: Floats | None
    lower: Integers
    upper: Integers


class Split(NamedTuple):
    """Batches of each client, the seconds of the slowest one, and the energy of all."""

    counts: Integers
    seconds: float
    energy: float


def split(
    table: Table,
    batches: int,
    objective: Objective = "time",
    deadline: float | None = None,
    allowance: float | None = None,
) -> Split:
    """Return the best split of a round that ends by a deadline and keeps an allowance of energy.

    ``"time"`` is the least time, and within that the least energy; ``"energy"`` is the reverse.
    Where that takes too much energy, it is the least time within the allowance. Where no split of
    all batches keeps both limits, it is one of the most batches, then one without ``lower``.
    """
    for each in (table, table._replace(lower=np.zeros_like(table.lower))):
        most = min(batches, int(each.upper.sum()))
        found = solved(each, most, objective, deadline)
        if found is None and deadline is not None:
            found = solved(each, most, objective, deadline, "most")
        if found is not None and allowance is not None and found.energy > allowance:
            found = _within(each, int(found.counts.sum()), objective, deadline, allowance)
        if found is not None:
            return found
    return Split(np.zeros(len(table.seconds), np.int64), 0.0, 0.0)


def solved(
    table: Table,
    batches: int,
    objective: Objective,
    deadline: float | None = None,
    require: Literal["all", "most"] = "all",
) -> Split | None:
    """Solve a round as a partition; None where there is no split."""
    order: Literal["makespan", "time-then-energy", "energy-then-time"] = "makespan"
    if table.energy is not None:
        order = "time-then-energy" if objective == "time" else "energy-then-time"
    problem = Partition(
        tasks=batches,
        costs=table.seconds,
        energy=table.energy,
        lower=table.lower,
        upper=table.upper,
        objective=order,
        deadline=deadline,
        require=require,
    )
    answer = solve(problem, time_limit=LIMIT).answer
    if not answer:
        return None
    counts = np.array(list(answer["counts"].values()), np.int64)
    rows = np.arange(len(counts))
    energy = 0.0 if table.energy is None else float(table.energy[rows, counts].sum())
    return Split(counts, float(table.seconds[rows, counts].max(initial=0.0)), energy)


def _within(
    table: Table, batches: int, objective: Objective, deadline: float | None, allowance: float
) -> Split | None:
    """Return the split of the most batches, then of the least time, that keeps an allowance.

    The least energy never grows with the deadline. It never falls as batches are added, where the
    energy of no client does.
    """

    def last(tries: Sequence[Any], attempt: Callable[[Any], Split | None]) -> Split | None:
        """Bisect tries for the last one that keeps the allowance."""
        best, low, high = None, 0, len(tries)
        while low < high:
            middle = (low + high) // 2
            found = attempt(tries[middle])
            if found is not None and found.energy <= allowance:
                best, low = found, middle + 1
            else:
                high = middle
        return best

    counts = range(int(table.lower.sum()), batches + 1)
    best = last(counts, lambda count: solved(table, count, "energy", deadline))
    if best is None or objective == "energy":
        return best
    most = int(best.counts.sum())
    ends = np.unique(table.seconds[table.seconds < best.seconds])[::-1].tolist()
    return last(ends, lambda end: solved(table, most, "energy", end)) or best


def least_seconds(table: Table, batches: int, rounds: int, budget: float | None = None) -> float:
    """Return a lower bound on the sum of the times of rounds, infinite where none keep the budget.

    A round is a point on the front of time and energy of a partition. The sum of ``rounds`` points
    is at least ``rounds`` times the lower convex envelope of the front, at the mean energy
    (Jensen's inequality). The front is read at deadlines d₀ < d₁ < …: what ends before d₁ ends at
    d₀ or later, and takes at least the least energy by d₁. Each is proved within ``LIMIT``.
    """
    fastest = solved(table, batches, "time")
    if fastest is None:
        return np.inf
    if budget is None or fastest.energy * rounds <= budget:
        return rounds * fastest.seconds
    cheapest = solved(table, batches, "energy")
    if cheapest is None or cheapest.energy * rounds > budget:
        return np.inf
    ends = np.geomspace(fastest.seconds, cheapest.seconds, CORNERS)
    splits = [solved(table, batches, "energy", float(end)) for end in ends[1:-1]]
    energies = np.array([cheapest.energy if each is None else each.energy for each in splits])
    energies = np.append(energies, (cheapest.energy, cheapest.energy))
    mean = budget / rounds
    below, above = energies <= mean, energies > mean
    low, high = energies[below][:, None], energies[above]
    part = (mean - low) / (high - low)
    mixed = (1.0 - part) * ends[below][:, None] + part * ends[above]
    return rounds * min(float(ends[below].min()), float(mixed.min(initial=np.inf)))
