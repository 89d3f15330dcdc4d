"""The compiled loops: the pass over a table, ends and sums of allowed counts.

Costs are compared as the integers with the same bit pattern. The count of entry p of row i is
``counts[p]``, or ``base[i] + p`` where ``counts`` is empty.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from makespan.core.jit import kernel

ONE = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
BLOCK_BITS = 9
ROUNDING = 4e-15


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
    """Fill the minima of blocks, clear flags of rows that lack a shape; return least and greatest.

    Each stretch of a row inside a block is read while it is in the cache.
    """
    smallest, greatest = np.int64(0x7FFFFFFFFFFFFFFF), np.int64(0)
    for row in range(len(start)):
        p = start[row]
        while p < stop[row]:
            block = p >> BLOCK_BITS
            end = min(stop[row], (block + 1) << BLOCK_BITS)
            stretch = bits[p:end]
            least, most = stretch[0], stretch[0]
            for k in range(len(stretch)):
                least = min(least, stretch[k])
                most = max(most, stretch[k])
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
    return smallest, greatest


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


@kernel
def _distance(counts: Any, first: Any, last: Any, p: Any, from_top: bool) -> Any:
    """Return by how much the count of entry p differs from the count at the row's end."""
    if len(counts) == 0:
        return last - p if from_top else p - first
    return counts[last] - counts[p] if from_top else counts[p] - counts[first]


@kernel
def _beyond_block(p: Any, from_top: bool) -> Any:
    """Return the next entry that is not in the block of p."""
    block = p >> BLOCK_BITS
    return (block << BLOCK_BITS) - 1 if from_top else (block + 1) << BLOCK_BITS


@kernel
def _steps(
    bits: Any,
    least_of_block: Any,
    counts: Any,
    limit: Any,
    first: Any,
    last: Any,
    from_top: bool,
    width: Any,
    unit: Any,
    steps: Any,
) -> Any:
    """List by how much a row's allowed counts differ from its end, up to ``width``, in units.

    Return how many there are; the first is 0.
    """
    number = 0
    p = last if from_top else first
    step = -1 if from_top else 1
    while first <= p <= last:
        if least_of_block[p >> BLOCK_BITS] > limit:
            p = _beyond_block(p, from_top)
            continue
        distance = _distance(counts, first, last, p, from_top)
        if distance > width:
            break
        if bits[p] <= limit:
            steps[number] = distance // unit
            number += 1
        p += step
    return number


@kernel
def common_divisor(
    bits: Any,
    least_of_block: Any,
    counts: Any,
    limit: Any,
    first: Any,
    last: Any,
    from_top: bool,
    width: Any,
) -> Any:
    """Return the greatest common divisor of all steps up to ``width``; 0 if all are 0."""
    divisor = np.int64(0)
    for row in range(len(first)):
        p = last[row] if from_top else first[row]
        step = -1 if from_top else 1
        while first[row] <= p <= last[row]:
            if least_of_block[p >> BLOCK_BITS] > limit:
                p = _beyond_block(p, from_top)
                continue
            distance = _distance(counts, first[row], last[row], p, from_top)
            if distance > width:
                break
            if bits[p] <= limit:
                a, b = divisor, distance
                while b:
                    a, b = b, a % b
                divisor = a
                if divisor == 1:
                    return divisor
            p += step
    return divisor


@kernel
def _or_shifted(target: Any, source: Any, shift: Any, words: Any) -> Any:
    """``target |= source << shift`` on the first ``words`` words; they must be two arrays."""
    whole = shift >> 6
    part = np.uint64(shift & 63)
    if whole >= words:
        return
    if part == 0:
        for k in range(whole, words):
            target[k] |= source[k - whole]
        return
    back = np.uint64(64) - part
    target[whole] |= source[0] << part
    for k in range(whole + 1, words):
        target[k] |= (source[k - whole] << part) | (source[k - whole - 1] >> back)


@kernel
def _or_shifted_itself(target: Any, shift: Any, words: Any) -> Any:
    """``target |= target << shift``, from the last word down, so that old words are read."""
    whole = shift >> 6
    part = np.uint64(shift & 63)
    if part == 0:
        for k in range(words - 1, whole - 1, -1):
            target[k] |= target[k - whole]
        return
    back = np.uint64(64) - part
    for k in range(words - 1, whole, -1):
        target[k] |= (target[k - whole] << part) | (target[k - whole - 1] >> back)
    if whole < words:
        target[whole] |= target[0] << part


@kernel
def _solid_from(reached: Any, width: Any, unit: Any) -> Any:
    """Return the least c such that every multiple of ``unit`` from c to ``width`` is reached."""
    if unit == 1:
        k = width >> 6
        used = np.uint64((width & 63) + 1)
        mask = ALL if used == 64 else (ONE << used) - ONE
        while k >= 0:
            missing = ~reached[k] & mask
            if missing:
                top = 63
                while not (missing >> np.uint64(top)) & ONE:
                    top -= 1
                return (k << 6) + top + 1
            mask = ALL
            k -= 1
        return 0
    t = (width // unit) * unit
    while t >= 0 and (reached[t >> 6] >> np.uint64(t & 63)) & ONE:
        t -= unit
    return max(t + 1, 0)


@kernel
def _add_row(
    reached: Any, old: Any, run: Any, steps: Any, number: Any, width: Any, state: Any
) -> Any:
    """Add one row's steps to the set of reached sums.

    ``state`` holds the divisor of all steps so far and the point from which all its multiples
    are reached: a step that the divisor divides changes nothing from there on. Arithmetic
    progressions of steps are added by doubling shifts.
    """
    divisor = state[0]
    for k in range(number):
        a, b = divisor, steps[k]
        while b:
            a, b = b, a % b
        divisor = a
        if divisor == 1:
            break
    limit = state[1] if divisor == state[0] else width + 1
    words = (limit + 63) >> 6
    for k in range(words):
        old[k] = reached[k]
    k, added = 1, 0
    while k < number and steps[k] < limit:
        length = 1
        if k + 1 < number:
            gap = steps[k + 1] - steps[k]
            while k + length < number and steps[k + length] - steps[k + length - 1] == gap:
                length += 1
        if length < 4:
            _or_shifted(reached, old, steps[k], words)
            k += 1
        else:
            for w in range(words):
                run[w] = old[w]
            covered = 1
            while 2 * covered <= length:
                _or_shifted_itself(run, covered * gap, words)
                covered *= 2
            if covered < length:
                _or_shifted_itself(run, (length - covered) * gap, words)
            _or_shifted(reached, run, steps[k], words)
            k += length
        added += 1
        if added & 15 == 0:
            limit = min(limit, _solid_from(reached, width, divisor))
            words = (limit + 63) >> 6
    if number > 1:
        state[0] = divisor
        state[1] = min(limit, _solid_from(reached, width, divisor))


@kernel
def reaches(
    bits: Any,
    least_of_block: Any,
    counts: Any,
    limit: Any,
    first: Any,
    last: Any,
    from_top: bool,
    width: Any,
    unit: Any,
    steps: Any,
    reached: Any,
    stored: Any,
    state: Any,
    row_from: Any,
    row_to: Any,
    early: bool,
) -> Any:
    """Add the steps of the rows ``row_to - 1`` down to ``row_from`` to the reached sums.

    ``state`` is kept by :func:`_add_row`, so that the caller can go on in slices.
    ``stored[row]`` receives the sums of rows from ``row`` on, where there is room. Return
    whether ``width`` (in units) is reached; if ``early``, as soon as it is.
    """
    store = len(stored) > 1
    target = width // unit
    words = (target >> 6) + 1
    old, run = np.zeros(words, np.uint64), np.zeros(words, np.uint64)
    for row in range(row_to - 1, row_from - 1, -1):
        number = _steps(
            bits, least_of_block, counts, limit, first[row], last[row], from_top, width, unit, steps
        )
        _add_row(reached, old, run, steps, number, target, state)
        if store:
            stored[row, :words] = reached[:words]
        if early and (reached[target >> 6] >> np.uint64(target & 63)) & ONE:
            return True
    return ((reached[target >> 6] >> np.uint64(target & 63)) & ONE) != 0


@kernel
def trace(
    bits: Any,
    least_of_block: Any,
    counts: Any,
    limit: Any,
    first: Any,
    last: Any,
    from_top: bool,
    width: Any,
    unit: Any,
    stored: Any,
    entries: Any,
) -> Any:
    """Choose each row's least count with which the later rows can still reach the total."""
    rest = width // unit
    for row in range(len(first)):
        best, taken = -1, 0
        p = last[row] if from_top else first[row]
        step = -1 if from_top else 1
        while first[row] <= p <= last[row]:
            if least_of_block[p >> BLOCK_BITS] > limit:
                p = _beyond_block(p, from_top)
                continue
            distance = _distance(counts, first[row], last[row], p, from_top)
            if distance > rest * unit:
                break
            distance //= unit
            left = rest - distance
            if bits[p] <= limit and (stored[row + 1, left >> 6] >> np.uint64(left & 63)) & ONE:
                best, taken = p, distance
                if not from_top:
                    break
            p += step
        entries[row] = best
        rest -= taken


@kernel
def costs_between(
    bits: Any,
    least_of_block: Any,
    counts: Any,
    infeasible: Any,
    feasible: Any,
    first: Any,
    last: Any,
    from_top: bool,
    width: Any,
    found: Any,
) -> Any:
    """Collect the costs in ``(infeasible, feasible]`` of entries within ``width`` of the ends.

    Return how many there are; one more than fit, as soon as they do not all fit.
    """
    number = 0
    for row in range(len(first)):
        p = last[row] if from_top else first[row]
        step = -1 if from_top else 1
        while first[row] <= p <= last[row]:
            if least_of_block[p >> BLOCK_BITS] > feasible:
                p = _beyond_block(p, from_top)
                continue
            distance = _distance(counts, first[row], last[row], p, from_top)
            if distance > width:
                break
            if infeasible < bits[p] <= feasible:
                if number == len(found):
                    return number + 1
                found[number] = bits[p]
                number += 1
            p += step
    return number
