"""Partition by exhaustive enumeration: every combination of allowed counts, exact sums."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import inf

Rows = list[dict[int, float]]


def plans(rows: Rows, tasks: int) -> list[tuple[int, ...]]:
    """Return all vectors of allowed counts that add up to ``tasks``, in lexicographic order."""
    allowed = [sorted(count for count, cost in row.items() if cost < inf) for row in rows]
    return [counts for counts in itertools.product(*allowed) if sum(counts) == tasks]


def time_of(rows: Rows, counts: tuple[int, ...]) -> float:
    return max(row[count] for row, count in zip(rows, counts, strict=True))


def sum_of(rows: Rows, counts: tuple[int, ...]) -> Fraction:
    return sum((Fraction(row[c]) for row, c in zip(rows, counts, strict=True)), Fraction(0))


def least_makespan(rows: Rows, tasks: int) -> tuple[float, list[tuple[int, ...]]] | None:
    """Return the least makespan and all optimal plans, None if there is no plan."""
    every = plans(rows, tasks)
    if not every:
        return None
    best = min(time_of(rows, counts) for counts in every)
    return best, [counts for counts in every if time_of(rows, counts) == best]


def least_total(rows: Rows, tasks: int, deadline: float = inf) -> Fraction | None:
    """Return the least total by the deadline, exactly."""
    every = [counts for counts in plans(rows, tasks) if time_of(rows, counts) <= deadline]
    return min((sum_of(rows, counts) for counts in every), default=None)


def front(times: Rows, energies: Rows, tasks: int) -> list[tuple[float, Fraction]]:
    """Return the Pareto front of time and energy by increasing time."""
    points = sorted({(time_of(times, c), sum_of(energies, c)) for c in plans(times, tasks)})
    best: list[tuple[float, Fraction]] = []
    for point in points:
        if not best or point[1] < best[-1][1]:
            best.append(point)
    return best


def most_tasks(rows: Rows, tasks: int) -> int | None:
    """Return the most tasks, up to ``tasks``, that allowed counts can add up to."""
    reached = {0}
    for row in rows:
        reached = {r + c for r in reached for c, cost in row.items() if cost < inf}
    return max((total for total in reached if total <= tasks), default=None)
