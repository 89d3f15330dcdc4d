"""Narrow groups: what leads to them is busy with what they need for nearly all the time.

What enters such a group should be new to everybody in it: by what enters twice the plan is late.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from makespan.reduction.bounding.cuts import capacity, directed
from makespan.reduction.bounding.packing import VIOLATED, Packing
from makespan.reduction.model.statement import Bools
from makespan.reduction.problem import Reduction
from makespan.reduction.rules.occupation import occupation_of

MOST = 62  # bits of a whole number


def narrow(problem: Reduction, packing: Packing, least: float) -> Bools:
    """Return groups of several machines that nothing enters twice in a packing, a row each.

    What they need takes at least the part ``least`` of the packing's time to enter. Of any two, one
    holds the other, or they have nothing in common: who lacks something can then get it from
    inside the smallest group in which somebody has it. The narrowest are taken first.

    Complexity: O(n²) for each group of the packing, and each pair.
    """
    ways, _ = directed(problem, back=problem.statement.combining, least=None)
    used = occupation_of(problem)
    holds, _ = problem.statement.copied
    count, whole = len(holds), float(problem.sizes.sum())
    pairs = np.zeros((count * (count - 1) // 2, count), dtype=bool)
    for row, both in zip(pairs, combinations(range(count), 2), strict=True):
        row[list(both)] = True
    every = np.unique(np.concatenate([packing.groups, pairs]), axis=0)
    over = np.isfinite(ways.seconds)
    parts: list[tuple[float, int]] = []
    several = every.sum(axis=1) > 1 if packing.seconds > 0 else np.zeros(len(every), dtype=bool)
    for place in np.flatnonzero(several).tolist():
        group = every[place]
        need = float(problem.sizes[~holds[group].any(axis=0)].sum())
        enters = packing.amount[~group[used.giver] & group[used.taker]].sum()
        if need > 0 and enters <= need / whole + VIOLATED:
            rate = capacity(ways, over & ~group[:, None] & group)
            parts.append((-need / rate / packing.seconds, place))
    found: list[Bools] = []
    for part, place in sorted(parts):
        group = every[place]
        if -part < least or len(found) == MOST:
            break
        shared = [group & other for other in found]
        if all(
            not both.any() or (both == group).all() or (both == other).all()
            for both, other in zip(shared, found, strict=True)
        ):
            found.append(group)
    return np.array(found, dtype=bool).reshape(-1, count)
