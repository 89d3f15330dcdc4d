"""Three lines for a Dask user: measure the cluster, plan on what was measured, run the plan.

Without a client a cluster on this machine is started; with ``Client("tcp://...")`` it is yours.
"""

from __future__ import annotations

import math

import makespan.execute.dask


def smoothness(number: int) -> int:
    """Return the largest prime factor of a number, by trial division."""
    largest, factor = 1, 2
    while factor <= math.isqrt(number):
        if number % factor:
            factor += 1
        else:
            number //= factor
            largest = factor
    return max(largest, number)


if __name__ == "__main__":
    numbers = range(10_000_000, 10_020_000)
    execution = makespan.execute.dask.map(smoothness, numbers)
    print(execution)  # measured and predicted makespan, and how far off each kind of activity was

    if execution.plan is not None:
        print(execution.plan)
    print(f"{min(execution.results)} is the smoothest")
