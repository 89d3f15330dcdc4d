"""The compiled loops that read a table: the first pass, and the ends of what a limit allows.

Costs are compared as the integers with the same bit pattern.
"""

from typing import Any

import numpy as np

from makespan.core.numeric.jit import kernel

BLOCK_BITS = 9
ROUNDING = 4e-15
INFINITE = np.int64(0x7FF0000000000000)
NONE = np.int64(0x7FFFFFFFFFFFFFFF)
ZERO = np.int64(0)


@kernel
def scan(
    values: Any,
    bits: Any,
    start: Any,
    stop: Any,
    low: Any,
    high: Any,
    monotone: Any,
    convex: Any,
    least_of_block: Any,
) -> Any:
    """Fill the minima of blocks, clear flags of rows that lack a shape.

    Return the least and the greatest bit pattern, the least above 0, and the greatest of a finite
    cost. Each stretch of a row inside a block is read while it is in the cache.
    """
    smallest, greatest, least_positive, greatest_finite = NONE, ZERO, NONE, ZERO
    for row in range(len(start)):
        p = start[row]
        while p < stop[row]:
            block = p >> BLOCK_BITS
            end = min(stop[row], (block + 1) << BLOCK_BITS)
            stretch = bits[p:end]
            least, most = stretch[0], stretch[0]
            positive, finite = NONE, ZERO
            for k in range(len(stretch)):
                least = min(least, stretch[k])
                most = max(most, stretch[k])
                positive = min(positive, stretch[k] if stretch[k] > 0 else NONE)
                finite = max(finite, stretch[k] if stretch[k] < INFINITE else ZERO)
            least_positive = min(least_positive, positive)
            greatest_finite = max(greatest_finite, finite)
            least_of_block[block] = min(least_of_block[block], least)
            smallest = min(smallest, least)
            greatest = max(greatest, most)
            if monotone[row]:
                a = max(p, low[row])
                b = max(a, min(end, high[row] - 1))
                here, after = bits[a:b], bits[a + 1 : b + 1]
                falls = False
                for k in range(len(here)):
                    falls |= after[k] < here[k]
                monotone[row] = not falls
            if convex[row]:
                a = max(p, low[row])
                b = max(a, min(end, high[row] - 2))
                one, two, three = values[a:b], values[a + 1 : b + 1], values[a + 2 : b + 2]
                bends = False
                for k in range(len(one)):
                    bend = (three[k] - two[k]) - (two[k] - one[k])
                    bends |= not bend >= -ROUNDING * (three[k] + one[k])
                convex[row] = not bends
            p = end
    return smallest, greatest, least_positive, greatest_finite


@kernel
def largest_least(bits: Any, least_of_block: Any, low: Any, high: Any) -> Any:
    """Return the greatest of the rows' least bit patterns; whole blocks are not read."""
    result = np.int64(0)
    for row in range(len(low)):
        least = np.int64(0x7FFFFFFFFFFFFFFF)
        p = low[row]
        while p < high[row]:
            block = p >> BLOCK_BITS
            end = (block + 1) << BLOCK_BITS
            if p == block << BLOCK_BITS and end <= high[row]:
                least = min(least, least_of_block[block])
            else:
                end = min(end, high[row])
                for k in range(p, end):
                    least = min(least, bits[k])
            p = end
        result = max(result, least)
    return result


@kernel
def least_above(bits: Any, low: Any, high: Any, limit: Any) -> Any:
    """Return the least bit pattern above ``limit`` in any row."""
    least = NONE
    for row in range(len(low)):
        stretch = bits[low[row] : high[row]]
        for k in range(len(stretch)):
            least = min(least, stretch[k] if stretch[k] > limit else NONE)
    return least


@kernel
def last_allowed(
    bits: Any, least_of_block: Any, limit: Any, above: Any, below: Any, found: Any
) -> Any:
    """Find each row's last entry in ``(above, below]`` at most ``limit``; ``above`` if none."""
    for row in range(len(found)):
        p = below[row]
        stop = above[row]
        while p > stop:
            first = max((p >> BLOCK_BITS) << BLOCK_BITS, stop + 1)
            if least_of_block[p >> BLOCK_BITS] <= limit:
                while p >= first and bits[p] > limit:
                    p -= 1
                if p >= first:
                    break
            p = first - 1
        found[row] = p


@kernel
def first_allowed(
    bits: Any, least_of_block: Any, limit: Any, above: Any, below: Any, found: Any
) -> Any:
    """Find each row's first entry in ``[above, below)`` at most ``limit``; ``below`` if none."""
    for row in range(len(found)):
        p = above[row]
        stop = below[row]
        while p < stop:
            end = min(((p >> BLOCK_BITS) + 1) << BLOCK_BITS, stop)
            if least_of_block[p >> BLOCK_BITS] <= limit:
                while p < end and bits[p] > limit:
                    p += 1
                if p < end:
                    break
            p = end
        found[row] = p
