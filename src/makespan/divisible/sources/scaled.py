"""The numbers of several sources in units and seconds that programmes are well scaled in."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.quick import machines_bound

if TYPE_CHECKING:
    from makespan.backends.highs import Programme


class Scaled:
    """Costs, limits and loads, times in ``second`` and amounts in ``unit``.

    ``end`` is the deadline of an open load, infinite for a given one. ``linked`` says which
    sources can send a worker anything that it can compute in time; ``able`` which sources can
    compute; ``first`` is when a worker can begin to compute at the earliest.
    """

    def __init__(self, problem: DivisibleLoad, second: float | None = None) -> None:
        platform = problem.grid
        self.problem = problem
        self.second = second = second or scale_of(problem)
        self.unit = unit = problem.load or 1.0
        self.load = None if problem.load is None else problem.load / unit
        self.held = None if platform.held is None else platform.held / unit
        rate = unit / second
        self.send_fixed, self.send = platform.send_fixed / second, platform.send_per_unit * rate
        self.compute_fixed = platform.compute_fixed / second
        self.compute = platform.compute_per_unit * rate
        self.own_fixed, self.own = platform.own_fixed / second, platform.own_per_unit * rate
        self.begin = platform.source_release / second
        self.release, self.deadline = platform.release / second, platform.deadline / second
        self.memory = platform.memory / unit
        by = problem.deadline if problem.load is None else None
        self.end = math.inf if by is None else by / second
        arrival = self.begin[:, np.newaxis] + self.send_fixed
        begun = np.maximum(arrival, self.release) + self.compute_fixed
        self.linked = np.isfinite(self.send) & (begun <= self.deadline) & (self.memory > 0)
        self.able = platform.computes & (self.begin + self.own_fixed <= self.end)
        arrival = np.where(self.linked, arrival, np.inf)
        self.first = np.maximum(arrival.min(axis=0, initial=np.inf), self.release)
        self.one_port = problem.ports != "many"

    @property
    def shares(self) -> np.ndarray:
        """The most that each source can give away or compute."""
        if self.held is not None:
            return self.held
        return np.full(len(self.begin), np.inf if self.load is None else self.load)

    def place_all(
        self, programme: Programme, source: Integers, amount: Integers, own: Integers
    ) -> None:
        """Add rows: all that is held is sent or computed.

        ``amount`` are the variables of what each ``source`` sends, ``own`` of what it computes.
        """
        if self.held is not None:
            for index, load in enumerate(self.held.tolist()):
                programme.row([*amount[source == index], own[index]], 1.0, low=load, high=load)
        elif self.load is not None:
            programme.row([*amount, *own], 1.0, low=self.load, high=self.load)


def scale_of(problem: DivisibleLoad) -> float:
    """Return a time that plans are comparable with: the deadline of an open load, else a bound."""
    if problem.load is None:
        return problem.latest or 1.0
    least = machines_bound(problem)
    return least if 0 < least < math.inf else 1.0


def over(seconds: Floats, cost: Floats) -> Floats:
    """Return what can be done in some time, units; all of it where nothing costs time."""
    most = np.full(len(seconds), np.inf)
    np.divide(seconds, cost, out=most, where=cost > 0)
    return np.where(seconds >= 0, most, 0.0)
