"""Random partition problems with all fields mixed, and what is true of them, by enumeration.

Sums are fractions: nothing is lost where costs differ by a hundred orders of magnitude.
"""

from __future__ import annotations

import itertools
import random
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import inf
from typing import Any

import numpy as np

from makespan import Affine, Partition, lower_bound
from makespan.partition.bounds import grain
from makespan.partition.model.curves import Samples

Row = dict[int, float]
Counts = tuple[int, ...]

MAX_PLANS = 30_000
CLOSE = Fraction(1, 10**9)
"""Sums are claimed to be least to within this share (makespans exactly)."""


def random_problem(rng: random.Random) -> Partition:
    """Return a small problem; any field may be there, costs of any form and magnitude."""
    return Partition(**random_parts(rng)[0])


def covers(problem: Any) -> bool:
    """Whether the problem is small enough to be enumerated."""
    if not isinstance(problem, Partition) or problem.tasks > 40 or len(problem.machines) > 6:
        return False
    number = 1
    for row in rows_of(problem):
        number *= len(row)
    return number <= MAX_PLANS


def best(problem: Partition) -> Fraction | None:
    """Return the least value of the (first) objective, exactly; None where there is no plan.

    Of a front, the least makespan.
    """
    truth = _Truth(problem)
    if not truth.plans:
        return None
    if problem.objective == "total":
        return min(map(truth.total, truth.plans))
    if problem.objective in ("energy", "energy-then-time"):
        return min(map(truth.energy, truth.plans))
    return Fraction(min(map(truth.time, truth.plans)))


def front(problem: Partition) -> list[tuple[float, float]]:
    """Return time and energy of the plans that no other beats in both, by increasing time."""
    truth = _Truth(problem)
    points: list[tuple[float, Fraction]] = []
    for time, energy in sorted((truth.time(plan), truth.energy(plan)) for plan in truth.plans):
        if not points or energy < points[-1][1]:
            points.append((time, energy))
    return [(time, float(energy)) for time, energy in points]


def false_claims(problem: Partition, result: Any) -> Iterator[str]:
    """Yield what a result says that enumeration contradicts."""
    truth = _Truth(problem)
    if not truth.plans:
        if result.schedule is not None or result.status == "optimal":
            yield f"{result.status}, but there is no plan"
        return
    if result.status == "infeasible":
        yield f"infeasible ({result.notes[0]}), but {truth.plans[0]} is a plan"
        return
    least = min(map(truth.time, truth.plans))
    for bound in (result.lower_bound, lower_bound(problem).value):
        if bound is not None and bound > least * (1 + 1e-15):
            yield f"a bound of {bound!r}, but the least makespan is {least!r}"
    unit = grain(problem)
    if unit is not None and problem.objective == "makespan" and Fraction(least) % Fraction(unit):
        yield f"a grain of {unit!r}, but the least makespan is {least!r}"
    if result.objective is not None and result.objective.bound is not None:
        value = best(problem) if problem.objective != "time-then-energy" else _energy_last(truth)
        if value is not None and Fraction(result.objective.bound) > value * (1 + CLOSE):
            yield f"an objective's bound of {result.objective.bound!r}, but {float(value)!r} exists"
    if result.status == "optimal":
        counts = tuple(result.answer["counts"].values())
        if counts not in truth.plans:
            yield f"{counts} is no plan"
        else:
            yield from _not_best(truth, counts, result)


def _energy_last(truth: _Truth) -> Fraction:
    least = min(map(truth.time, truth.plans))
    return min(truth.energy(plan) for plan in truth.plans if truth.time(plan) == least)


def _not_best(truth: _Truth, counts: Counts, result: Any) -> Iterator[str]:
    problem, plans = truth.problem, truth.plans
    time, least = truth.time(counts), min(map(truth.time, plans))
    if problem.objective in ("makespan", "time-then-energy") and time != least:
        yield f"a makespan of {time!r}, but {least!r} is possible"
        return
    fastest = [plan for plan in plans if truth.time(plan) == least]
    if problem.objective == "makespan":
        yield from _not_preferred(truth, counts, fastest, result)
    elif problem.objective == "total":
        total = min(map(truth.total, plans))
        if truth.total(counts) > total * (1 + CLOSE):
            yield f"a total of {float(truth.total(counts))!r}; {float(total)!r} is possible"
    elif problem.objective == "energy":
        energy = min(map(truth.energy, plans))
        if truth.energy(counts) > energy * (1 + CLOSE):
            yield f"an energy of {float(truth.energy(counts))!r}; {float(energy)!r} is possible"
    elif problem.objective == "time-then-energy":
        energy = min(map(truth.energy, fastest))
        if truth.energy(counts) > energy * (1 + CLOSE):
            yield f"an energy of {float(truth.energy(counts))!r}; {float(energy)!r} is possible"
    elif problem.objective == "energy-then-time":
        energy = min(map(truth.energy, plans))
        soon = min(truth.time(plan) for plan in plans if truth.energy(plan) == energy)
        if truth.energy(counts) > energy * (1 + CLOSE) or time > soon:
            yield f"{float(truth.energy(counts))!r} in {time!r}; {float(energy)!r} in {soon!r}"
    else:
        yield from _not_the_front(truth, result.details["front"])


def _not_preferred(
    truth: _Truth, counts: Counts, fastest: Sequence[Counts], result: Any
) -> Iterator[str]:
    prefer = truth.problem.prefer
    if any("ran out" in note or "time limit" in note for note in result.notes):
        return
    if any("'prefer' was ignored" in note for note in result.notes):
        if result.method not in ("olar", "any-plan"):
            yield f"{result.method} did not look at 'prefer'"
        return
    if prefer == "fewest-resources" and _used(counts) > min(map(_used, fastest)):
        yield f"{_used(counts)} resources; {min(map(_used, fastest))} are enough"
    if prefer == "least-total":
        total = min(map(truth.total, fastest))
        if truth.total(counts) > total * (1 + CLOSE):
            yield f"a total of {float(truth.total(counts))!r}; {float(total)!r} is possible"
    if prefer == "lexicographic" and counts != fastest[0]:
        yield f"{counts}, but {fastest[0]} comes before"


def _used(counts: Counts) -> int:
    return sum(count > 0 for count in counts)


def _not_the_front(truth: _Truth, front: Sequence[dict[str, Any]]) -> Iterator[str]:
    points = []
    for point in front:
        counts = tuple(point["counts"].values())
        if counts not in truth.plans or truth.time(counts) != point["time"]:
            yield f"{point} is no plan"
            return
        points.append((point["time"], truth.energy(counts)))
    for plan in truth.plans:
        time, energy = truth.time(plan), truth.energy(plan)
        if not any(t <= time and e <= energy * (1 + CLOSE) for t, e in points):
            yield f"{plan} in {time!r} with {float(energy)!r} is beaten by no point of the front"
    for (one, more), (other, less) in itertools.pairwise(points):
        if one >= other or less >= more:
            yield f"the front does not fall from {one!r} to {other!r}"


class _Truth:
    """All plans of a problem in lexicographic order, and their values."""

    def __init__(self, problem: Partition) -> None:
        self.problem = problem
        self._times = rows_of(problem)
        self._energies = energies_of(problem, self._times) if problem.has_energy else None
        deadline = inf if problem.deadline is None else problem.deadline
        allowed = [[c for c, cost in row.items() if cost <= deadline] for row in self._times]
        every = list(_vectors(allowed, problem.tasks))
        target = problem.tasks
        if problem.require == "most":
            target = max(map(sum, every), default=0)
        self.plans = [counts for counts in every if sum(counts) == target]

    def time(self, counts: Counts) -> float:
        return max(row[count] for row, count in zip(self._times, counts, strict=True))

    def total(self, counts: Counts) -> Fraction:
        return sum((_exact(r[c]) for r, c in zip(self._times, counts, strict=True)), Fraction(0))

    def energy(self, counts: Counts) -> Fraction:
        assert self._energies is not None
        return sum((_exact(r[c]) for r, c in zip(self._energies, counts, strict=True)), Fraction(0))


@lru_cache(maxsize=10_000)
def _exact(value: float) -> Fraction:
    return Fraction(value)


def _vectors(allowed: list[list[int]], tasks: int) -> Iterator[Counts]:
    if not allowed:
        yield ()
        return
    for count in allowed[0]:
        if count <= tasks:
            for rest in _vectors(allowed[1:], tasks - count):
                yield (count, *rest)


def rows_of(problem: Partition) -> list[Row]:
    """Return the cost of every allowed count of every resource, as the problem states it."""
    rows: list[Row] = [{} for _ in problem.machines]
    for count in range(problem.tasks + 1):
        costs = problem.costs_of(np.full(len(rows), count, dtype=np.int64)).tolist()
        for row, cost in zip(rows, costs, strict=True):
            if cost < inf:
                row[count] = cost
    return rows


def energies_of(problem: Partition, rows: list[Row]) -> list[Row]:
    found: list[Row] = [{} for _ in rows]
    for index, row in enumerate(rows):
        for count in row:
            amounts = np.full(len(rows), count, dtype=np.int64)
            found[index][count] = float(problem.energies_of(amounts)[index])
    return found


# ---- statements


def random_parts(rng: random.Random) -> tuple[dict[str, Any], list[Row]]:
    """Return the parts of a problem, and the cost of every count that its costs allow."""
    tasks, resources = rng.randint(0, 9), rng.randint(1, 4)
    objective = rng.choice(
        ["makespan"] * 3
        + ["total"] * 2
        + ["energy", "time-then-energy", "energy-then-time", "pareto"]
    )
    with_energy = objective not in ("makespan", "total") or rng.random() < 0.1
    value, other = random_values(rng), random_values(rng)
    plain = rng.random() < 0.15 and not with_energy
    costs, energies, rows, first = [], [], [], []
    for _ in range(resources):
        form = "affine" if plain else rng.choice(FORMS)
        cost, energy, row, start = _resource(rng, form, tasks, value, other, with_energy)
        costs.append(cost)
        energies.append(energy)
        rows.append(row)
        first.append(start)
    parts: dict[str, Any] = {"tasks": tasks, "costs": costs, "objective": objective}
    if with_energy:
        parts["energy"] = energies
    if any(first):
        parts["first"] = first
    lower, upper = [0] * resources, [tasks + 5] * resources
    if rng.random() < 0.3:
        lower = [rng.choice([0, 0, 1, 2]) for _ in range(resources)]
        parts["lower"] = lower
    if rng.random() < 0.3:
        upper = [rng.randint(low, tasks + 2 + low) for low in lower]
        parts["upper"] = upper
    for index, row in enumerate(rows):
        rows[index] = {c: v for c, v in row.items() if lower[index] <= c <= upper[index]}
    parts["require"] = rng.choice(["all", "all", "most"])
    if objective in ("makespan", "total") and rng.random() < 0.4:
        parts["prefer"] = rng.choice(["fewest-resources", "least-total"])
    if objective == "total" and parts.get("prefer") == "fewest-resources":
        del parts["prefer"]
    seen = sorted({v for row in rows for v in row.values() if v < inf})
    if seen and rng.random() < 0.3:
        parts["deadline"] = rng.choice([rng.choice(seen), seen[-1] * rng.random(), seen[-1]])
        if 0 < parts["deadline"] < 1e-100:
            del parts["deadline"]
    return parts, rows


FORMS = ("array", "array", "array", "counts", "affine", "function", "samples")


def random_values(rng: random.Random) -> Any:
    """Return a function that draws costs of one character: ties, zeros, magnitudes, near ties."""
    style = rng.choice(
        ["uniform", "ties", "zeros", "magnitudes", "extreme", "near", "decimal", "large", "sizes"]
    )
    size = 10.0 ** rng.randint(-80, 80)
    return {
        "uniform": rng.random,
        "ties": lambda: float(rng.randint(0, 4)),
        "zeros": lambda: rng.choice([0.0, 0.0, rng.random()]),
        "magnitudes": lambda: rng.random() * 10.0 ** rng.randint(-20, 20),
        "extreme": lambda: rng.choice([0.0, 1e98, 1e-90, 1.0, 3e97, rng.random()]),
        "near": lambda: 1.0 + rng.randint(0, 5) * 2.0**-52,
        "decimal": lambda: rng.randint(0, 30) / 10,
        "large": lambda: float(2**52 + rng.randint(0, 9)),
        "sizes": lambda: size * rng.random(),
    }[style]


def _resource(
    rng: random.Random, form: str, tasks: int, value: Any, other: Any, with_energy: bool
) -> tuple[Any, Any, Row, int]:
    """Return costs, energies, the cost of every count, and the first count."""
    length = rng.randint(1, tasks + 3)
    if form == "affine":
        cost, energy = Affine(value(), value()), Affine(other(), other())
        row = {c: (cost.fixed + cost.per_unit * c if c else 0.0) for c in range(tasks + 1)}
        return cost, energy, row, 0
    values, energies = [value() for _ in range(length)], [other() for _ in range(length)]
    shape = rng.choice(["any", "any", "rising", "convex"])
    if shape != "any":
        values.sort()
    if shape == "convex":
        values = [sum(values[: k + 1]) for k in range(length)]
    if form == "function":
        table = np.array((values + [values[-1]] * (tasks + 1))[: tasks + 9])
        charge = np.array((energies + [energies[-1]] * (tasks + 1))[: tasks + 9])
        row = {c: float(table[c]) for c in range(min(len(table), tasks + 1))}
        return table.__getitem__, charge.__getitem__, row, 0
    if form == "counts":
        counts = rng.sample(range(tasks + 4), min(length, tasks + 4))
        row = dict(zip(counts, values, strict=False))
        return row, dict(zip(counts, energies, strict=False)), row, 0
    if form == "samples":
        counts = rng.sample(range(tasks + 4), min(length, tasks + 4))
        how = rng.choice(["exact", "linear", "step"])
        unit = rng.choice([1, 1, 2, 3])
        samples = Samples(
            counts=counts, costs=values[: len(counts)], interpolation=how, granularity=unit,
            energies=energies[: len(counts)] if with_energy else None,
        )  # fmt: skip
        measured = dict(zip(counts, values, strict=False))
        return samples, None, _between(measured, how, unit), 0
    if rng.random() < 0.3:
        values = [v if rng.random() < 0.7 else inf for v in values]
    start = rng.choice([0, 0, 0, 1, 2])
    return values, energies, dict(enumerate(values, start=start)), start


def _between(measured: Row, how: str, unit: int) -> Row:
    known = sorted(measured)
    row = {}
    for count in range(known[0], known[-1] + 1):
        after = known[bisect_left(known, count)]
        if count % unit:
            continue
        if count in measured:
            row[count] = measured[count]
        elif how == "step":
            row[count] = measured[after]
        elif how == "linear":
            before = known[bisect_left(known, count) - 1]
            slope = (measured[after] - measured[before]) / (after - before)
            row[count] = slope * (count - before) + measured[before]
    return row
