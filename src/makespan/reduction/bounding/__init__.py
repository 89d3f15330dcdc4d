"""How long a segment takes at least from machine to machine."""

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.reduction.problem import Reduction


def distances(problem: Reduction, size: float, *, back: bool, combining: bool) -> Floats:
    """Return how long a segment takes at least from every machine (row) to every other."""
    latency, transfer = problem.latencies, problem.transfers
    if back:
        latency, transfer = latency.T, transfer.T
    ways = latency + size * transfer if size > 0 else latency
    if combining:  # whom parts reach combines them; in reversed time, who gives prepares
        ways = ways + size * (problem.reduces[:, None] if back else problem.reduces)
    return shortest(ways)


def shortest(ways: Floats) -> Floats:
    """Return the least sums over ways from every machine (row) to every other (Floyd 1962)."""
    ways = np.where(np.eye(len(ways), dtype=bool), 0.0, ways)
    for over in range(len(ways)):
        np.minimum(ways, ways[:, over, None] + ways[over], out=ways)
    return ways
