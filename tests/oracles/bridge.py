"""A star with whole units and no communication is a partition: conversion both ways."""

from __future__ import annotations

import math

import numpy as np

from makespan.core.costs import Affine
from makespan.core.errors import ProblemError
from makespan.core.inputs.rules import Mistakes
from makespan.divisible.model.machines import Master, Worker
from makespan.divisible.model.platform import Star
from makespan.divisible.problem import DivisibleLoad
from makespan.partition.model.curves import Curves
from makespan.partition.model.table import NO_LIMIT
from makespan.partition.problem import Partition


def as_partition(problem: DivisibleLoad) -> Partition:
    """Return the partition that a star with whole units and free communication is.

    A worker's release time is part of its fixed cost; its memory and its deadline limit its
    count. The master is a resource where it computes.

    Raises
    ------
    ProblemError
        With everything that stands in the way, each with its place.

    >>> from makespan import solve
    >>> star = Star([Worker(compute=3.0), Worker(compute=2.0)])
    >>> load = DivisibleLoad(load=10, platform=star, integral=True)
    >>> solve(as_partition(load)).answer["counts"]
    {'P1': 4, 'P2': 6}
    """
    star = problem.platform
    mistakes = Mistakes()
    if not isinstance(star, Star):
        raise ProblemError("platform: is not a star; only a star can be a partition")
    _refuse_other_loads(problem, mistakes)
    _refuse_communication(star, mistakes)
    mistakes.raise_if_any()
    assert problem.load is not None
    units = int(problem.load)
    names: list[str] = list(star.names)
    costs: list[Affine] = []
    upper: list[int | None] = []
    for index in range(len(star)):
        worker = star.worker(index)
        assert isinstance(worker.compute, Affine)
        cost = Affine(worker.compute.fixed + worker.release, worker.compute.per_unit)
        limit = min(worker.memory, _units_by(cost, worker.deadline, units))
        costs.append(cost)
        upper.append(None if math.isinf(limit) else int(limit))
    lower = [1 if problem.use == "all" else 0] * len(costs)
    if isinstance(star.master, Master) and isinstance(star.master.compute, Affine):
        names.insert(0, star.master.name)
        costs.insert(0, star.master.compute)
        upper.insert(0, None)
        lower.insert(0, 0)
    return Partition(
        tasks=units, costs=costs, names=names, lower=lower, upper=upper, deadline=problem.deadline
    )


def as_star(problem: Partition) -> DivisibleLoad:
    """Return the star with whole units and free communication that a partition is.

    Every resource becomes a worker; an upper limit becomes its memory.

    Raises
    ------
    ProblemError
        If a cost is not affine, or something else stands in the way.

    >>> as_star(Partition(tasks=4, costs=[Affine(1.0, 2.0)], upper=9)).platform.memory.tolist()
    [9.0]
    """
    mistakes = Mistakes()
    costs = problem.costs
    affine = [f for f in getattr(costs, "functions", ()) if isinstance(f, Affine)]
    if not isinstance(costs, Curves) or len(affine) < len(costs):
        raise ProblemError("costs: are not all affine; a star's costs are")
    for index, lower in enumerate(costs.lower):
        if lower > 0:
            mistakes.add(f"lower[{index}]", f"{lower} is above 0; a star's workers have no limit")
    for name, usual in (
        ("objective", "makespan"),
        ("require", "all"),
        ("prefer", "lexicographic"),
    ):
        if getattr(problem, name) != usual:
            mistakes.add(name, f"{getattr(problem, name)!r} has no counterpart; only {usual!r} has")
    mistakes.raise_if_any()
    workers = [
        Worker(name=name, compute=cost, memory=math.inf if upper == NO_LIMIT else float(upper))
        for name, cost, upper in zip(problem.machines, affine, costs.upper, strict=True)
    ]
    master = Master(name=_free_name(set(problem.machines)))
    return DivisibleLoad(
        load=float(problem.tasks),
        platform=Star(workers, master=master),
        integral=True,
        deadline=problem.deadline,
    )


def _refuse_other_loads(problem: DivisibleLoad, mistakes: Mistakes) -> None:
    if not problem.integral:
        mistakes.add("integral", "is false; only whole units make a partition")
    if problem.load is None:
        mistakes.add("load", "is what is sought; a partition's tasks are given")
    elif problem.load != int(problem.load):
        mistakes.add("load", f"{problem.load!r} is not a whole number of units")
    for name in ("activation", "transfers", "loads", "budget"):
        if getattr(problem, name) is not None:
            mistakes.add(name, "has no counterpart in a partition")
    if problem.chooses_master:
        mistakes.add("platform.master", "'choose' has no counterpart in a partition")


def _refuse_communication(star: Star, mistakes: Mistakes) -> None:
    for column in ("send_fixed", "send_per_unit", "return_fixed", "return_per_unit"):
        costly = np.flatnonzero(getattr(star, column) > 0)
        if len(costly):
            index = int(costly[0])
            place = f"platform.workers[{index}].{column.replace('_', '.', 1)}"
            value = float(getattr(star, column)[index])
            mistakes.add(place, f"{value!r} is above 0; communication must be free")


def _units_by(cost: Affine, deadline: float, units: int) -> float:
    """Return the most units, up to ``units``, that are done by the deadline."""
    if math.isinf(deadline):
        return math.inf
    low, high = 0, units
    while low < high:
        middle = (low + high + 1) // 2
        if cost.of(middle) <= deadline:
            low = middle
        else:
            high = middle - 1
    return float(low)


def _free_name(taken: set[str]) -> str:
    """Return a name for a master that does not compute."""
    name = "master"
    while name in taken:
        name += "'"
    return name
