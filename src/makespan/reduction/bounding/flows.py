"""Flows from one machine to one other each, whatever ways they take.

Segments that one machine has and one other must get are sent over ways such that what gets to a
machine is what it needs, and what it sends on. How much over each, in the least time of the
busiest port or link, is a linear programme.

Source: Legrand, Marchal and Robert 2005, "Optimizing the steady-state throughput of scatter and
reduce operations on heterogeneous platforms"; here with latencies.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from makespan.backends.repeated import Unsolved
from makespan.core.numeric.arrays import Floats
from makespan.reduction.bounding.amounts import Amounts
from makespan.reduction.bounding.distances import distances
from makespan.reduction.model.growth import ROUNDING
from makespan.reduction.model.statement import Bools
from makespan.reduction.problem import Reduction

MOST_MACHINES = 64
MOST_AMOUNTS = 4_000


def goes_straight(problem: Reduction) -> bool:
    """Whether every segment that is sent is for one machine, from one, and copied only."""
    if problem.segments == "auto" or len(problem.machines) > MOST_MACHINES:
        return False
    if problem.statement.combining or not problem.items:
        return False
    holds, lacks = problem.statement.copied
    sent = lacks.any(axis=0)
    one = (holds.sum(axis=0) == 1) & (lacks.sum(axis=0) == 1)
    return bool(sent.any() and one[sent].all())


@lru_cache(maxsize=8)
def flows(problem: Reduction) -> float:
    """Return the least time of a problem that :func:`goes_straight`, seconds; 0 if not found.

    Complexity: a linear programme of n² columns for each machine that has something, or gets it,
    whichever are fewer; none of more than 4,000.
    """
    holds, lacks = problem.statement.copied
    units = problem.sizes / problem.sizes.sum()
    demand = (holds * units) @ lacks.T.astype(float)
    ends = min(int(demand.any(axis=axis).sum()) for axis in (0, 1))
    if ends * len(holds) * (len(holds) - 1) > MOST_AMOUNTS:
        return 0.0
    programme = _Programme(problem, demand, ends)
    try:
        programme.programme.solve()
    except Unsolved:
        return 0.0
    return programme.proved() * (1 - ROUNDING)


class _Programme(Amounts):
    """A layer for each machine that has something, or for each that gets something."""

    def __init__(self, problem: Reduction, demand: Floats, layers: int) -> None:
        self.demand = demand
        distance = distances(problem, float(problem.sizes.min()), back=False, combining=False)
        start = distance[demand.any(axis=1)].min(axis=0)
        super().__init__(problem, start, layers=layers)
        givers = np.flatnonzero(demand.any(axis=1))
        from_each = len(givers) == layers
        giver, taker = self.ways.giver, self.ways.taker
        if not from_each:
            givers, demand, giver, taker = (
                np.flatnonzero(demand.any(axis=0)),
                demand.T,
                taker,
                giver,
            )
        columns = len(giver)
        for layer, end in enumerate(givers.tolist()):
            for machine in range(self.count):
                if machine != end:
                    inward, outward = (np.flatnonzero(side == machine) for side in (taker, giver))
                    used = layer * columns + np.concatenate([inward, outward])
                    signs = np.repeat([1.0, -1.0], [len(inward), len(outward)])
                    self.row(used, signs, float(demand[end, machine]), np.inf, 0.0)

    def need(self, group: Bools) -> float:
        """Return what part of all segments is outside a group, and for machines in it."""
        return float(self.demand[~group][:, group].sum())
