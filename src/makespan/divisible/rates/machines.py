"""What the machines of several sources do at most, whoever sends to them."""

from __future__ import annotations

import math

import numpy as np

from makespan.divisible.model.sources import Sources
from makespan.divisible.problem import DivisibleLoad


def machines_bound(problem: DivisibleLoad) -> float:
    """Return when all machines that compute from when they can on would be done with the load.

    A worker begins when its first chunk can have come. Complexity: O(n log n).
    """
    platform, load = problem.platform, problem.load
    assert isinstance(platform, Sources)
    assert load is not None
    if load == 0:
        return 0.0
    arrival = platform.source_release[:, np.newaxis] + platform.send_fixed
    arrival = np.where(np.isfinite(platform.send_per_unit), arrival, np.inf)
    first = np.maximum(arrival.min(axis=0, initial=np.inf), platform.release)
    first = np.concatenate(
        [first + platform.compute_fixed, platform.source_release + platform.own_fixed]
    )
    cost = np.concatenate([platform.compute_per_unit, platform.own_per_unit])
    able = np.isfinite(first) & np.isfinite(cost)
    order = np.flatnonzero(able)[np.argsort(first[able], kind="stable")]
    end, rate, done = math.inf, 0.0, 0.0
    for begin, per_unit in zip(first[order].tolist(), cost[order].tolist(), strict=True):
        if begin >= end:
            break
        if per_unit == 0.0:
            return float(min(end, begin))
        rate += 1.0 / per_unit
        done += begin / per_unit
        end = (load + done) / rate
    return end
