"""The compiled loops of sums: hulls, reduced costs, the core, and the published table."""

from typing import Any

import numpy as np

from makespan.core.numeric.jit import kernel

STRETCH = 64
NOTHING = np.int64(0x7FFFFFFFFFFFFFFF)


@kernel
def _push(weights: Any, counts: Any, corners: Any, begin: Any, size: Any, p: Any) -> Any:
    """Add entry p to a lower hull that begins at ``begin``; return the new size."""
    sparse = len(counts) > 0
    while size - begin >= 2:
        a, b = corners[size - 2], corners[size - 1]
        left = counts[b] - counts[a] if sparse else b - a
        right = counts[p] - counts[b] if sparse else p - b
        if (weights[b] - weights[a]) * right < (weights[p] - weights[b]) * left:
            break
        size -= 1
    corners[size] = p
    return size + 1


@kernel
def _coarse_hull(
    weights: Any, weight_bits: Any, bits: Any, limit: Any, low: Any, high: Any, coarse: Any
) -> Any:
    """Hull of both ends of a contiguous row and the least entry of each stretch of 64."""
    size = nothing = np.int64(0)
    while low < high and bits[low] > limit:
        low += 1
    while low < high and bits[high - 1] > limit:
        high -= 1
    if low == high:
        return size
    none = weight_bits[:0]
    size = _push(weights, none, coarse, nothing, size, low)
    for begin in range(low + 1, high - 1, STRETCH):
        end = min(begin + STRETCH, high - 1)
        costs, cost_bits = weight_bits[begin:end], bits[begin:end]
        least = NOTHING
        for k in range(len(costs)):
            cost = costs[k] if cost_bits[k] <= limit else NOTHING
            least = min(least, cost)
        if least < NOTHING:
            at = 0
            while costs[at] != least or cost_bits[at] > limit:
                at += 1
            size = _push(weights, none, coarse, nothing, size, begin + at)
    if high - 1 > low:
        size = _push(weights, none, coarse, nothing, size, high - 1)
    return size


@kernel
def hulls(
    weights: Any,
    weight_bits: Any,
    bits: Any,
    limit: Any,
    counts: Any,
    low: Any,
    high: Any,
    corners: Any,
    begin: Any,
) -> Any:
    """List the corners of each row's lower convex hull, over the entries within ``limit``.

    ``begin[row]`` receives where the row's corners begin; the last entry, their number. In a
    contiguous row only entries below the hull of a few of them can be corners: the others are
    dropped by comparisons that run in vector registers.
    """
    size = np.int64(0)
    longest = np.int64(0)
    for row in range(len(low)):
        longest = max(longest, high[row] - low[row])
    coarse = np.empty(longest // STRETCH + 3, np.int64)
    for row in range(len(low)):
        begin[row] = size
        if len(counts) > 0:
            for p in range(low[row], high[row]):
                if bits[p] <= limit:
                    size = _push(weights, counts, corners, begin[row], size, p)
            continue
        number = _coarse_hull(weights, weight_bits, bits, limit, low[row], high[row], coarse)
        for index in range(number):
            a = coarse[index]
            size = _push(weights, counts, corners, begin[row], size, a)
            if index + 1 == number:
                break
            b = coarse[index + 1]
            slope = (weights[b] - weights[a]) / (b - a)
            for first in range(a + 1, b, STRETCH):
                part = weights[first : min(first + STRETCH, b)]
                part_bits = bits[first : min(first + STRETCH, b)]
                base = weights[a] + slope * (first - a)
                below = 0
                for k in range(len(part)):
                    below += (part[k] < base + slope * k) & (part_bits[k] <= limit)
                if below:
                    for k in range(len(part)):
                        if part[k] < base + slope * k and part_bits[k] <= limit:
                            size = _push(weights, counts, corners, begin[row], size, first + k)
    begin[len(low)] = size


@kernel
def reduce_costs(
    weights: Any,
    bits: Any,
    limit: Any,
    counts: Any,
    low: Any,
    high: Any,
    origin: Any,
    price: Any,
    floor: Any,
    reduced: Any,
) -> Any:
    """Fill in by how much each entry costs more than its row's origin at a price per task.

    What is not allowed is infinite, and what is negative, 0. Return how many are below ``floor``.
    """
    sparse = len(counts) > 0
    done = np.int64(0)
    below = np.int64(0)
    for row in range(len(low)):
        o, begin, end = origin[row], low[row], high[row]
        reduced[done:begin] = np.inf
        done = end
        weight, cost_bits, result = weights[begin:end], bits[begin:end], reduced[begin:end]
        base = weights[o]
        if sparse:
            for k in range(len(weight)):
                more = (weight[k] - base) - price * (counts[begin + k] - counts[o])
                more = more if cost_bits[k] <= limit else np.inf
                below += more < floor
                result[k] = more if more > 0.0 else 0.0
        else:
            shift = begin - o
            for k in range(len(weight)):
                more = (weight[k] - base) - price * (k + shift)
                more = more if cost_bits[k] <= limit else np.inf
                below += more < floor
                result[k] = more if more > 0.0 else 0.0
    reduced[done:] = np.inf
    return below


@kernel
def core_rows(
    begin: Any,
    moves: Any,
    costs: Any,
    least: Any,
    most: Any,
    limit: Any,
    offset: Any,
    best: Any,
    choice: Any,
    sums: Any,
    moved: Any,
    ends: Any,
    state: Any,
    budget: Any,
) -> None:
    """Go on with the dynamic programme over the core: extend every sum by every move of a row.

    The sums after i rows are ``sums[ends[i]:ends[i + 1]]``, reached last by ``moved``; their
    values are in ``best[i & 1]``. Sums outside ``[least, most]`` and values above ``limit`` are
    dropped. ``state`` holds the row, which of the sums before it comes next, and how many sums
    are stored. The loop stops when the ``budget`` of extended sums is spent, or when ``sums``
    may not have room for the next.
    """
    row, at, number = state[0], state[1], state[2]
    while row < len(least):
        old, new = best[row & 1], best[1 - (row & 1)]
        low, high = least[row], most[row]
        first, last = begin[row], begin[row + 1]
        while at < ends[row + 1]:
            if budget < 0 or len(sums) - number < last - first:
                state[0], state[1], state[2] = row, at, number
                return
            value = old[sums[at] - offset]
            for move in range(first, last):
                extended = value + costs[move]
                if extended > limit:
                    break
                total = sums[at] + moves[move]
                if total < low or total > high:
                    continue
                place = total - offset
                if extended < new[place]:
                    if new[place] == np.inf:
                        sums[number] = total
                        number += 1
                    new[place] = extended
                    choice[place] = move
            budget -= move - first + 1
            at += 1
        for k in range(ends[row], ends[row + 1]):
            old[sums[k] - offset] = np.inf
        for k in range(ends[row + 1], number):
            moved[k] = choice[sums[k] - offset]
        at = ends[row + 1]
        row += 1
        ends[row + 1] = number
    state[0], state[1], state[2] = row, at, number


@kernel
def table_row(
    old: Any,
    values: Any,
    bits: Any,
    limit: Any,
    counts: Any,
    base: Any,
    low: Any,
    high: Any,
    least: Any,
    most: Any,
    summed: bool,
    new: Any,
) -> Any:
    """One row of the dynamic programme: the best value of every total in ``[least, most]``."""
    for p in range(low, high):
        if bits[p] > limit:
            continue
        count = counts[p] if len(counts) else base + p
        cost = values[p]
        begin = max(least, count)
        source = old[begin - count : most + 1 - count]
        target = new[begin : most + 1]
        if summed:
            for k in range(len(target)):
                value = source[k] + cost
                target[k] = value if value < target[k] else target[k]
        else:
            for k in range(len(target)):
                value = source[k] if source[k] > cost else cost
                target[k] = value if value < target[k] else target[k]
