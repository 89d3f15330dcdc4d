"""Three lines for a Dask user: a function over many items, dealt out by what is learnt meanwhile.

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
    print(execution)  # what it took, and what client.map would have taken
    print(f"{min(execution.results)} is the smoothest")
