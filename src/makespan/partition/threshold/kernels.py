"""The compiled loops over the sums of allowed counts.

A ``view`` of a table is ``(bits, least_of_block, counts, limit, from_top, width)``: the entries
whose costs are within the limit (as bit patterns), and whose counts differ from the row's last
(``from_top``) or first by ``width`` at most. The count of entry p is ``counts[p]``; where
``counts`` is empty, rows are contiguous.
"""

from typing import Any

import numpy as np

from makespan.core.numeric.jit import kernel

ONE = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
BLOCK_BITS = 9
MASK = np.int64((1 << BLOCK_BITS) - 1)


@kernel
def _distance(view: Any, first: Any, last: Any, p: Any) -> Any:
    """Return by how much the count of entry p differs from the count at the row's end."""
    counts, from_top = view[2], view[4]
    if len(counts) == 0:
        return last - p if from_top else p - first
    return counts[last] - counts[p] if from_top else counts[p] - counts[first]


@kernel
def _next(view: Any, first: Any, last: Any, p: Any) -> Any:
    """Return the first entry of the view from p on, away from the row's end; -1 if none is left."""
    bits, least_of_block, _, limit, from_top, width = view
    while first <= p <= last:
        block = p >> BLOCK_BITS
        if least_of_block[block] > limit:
            p = (block << BLOCK_BITS) - 1 if from_top else (block + 1) << BLOCK_BITS
            continue
        if _distance(view, first, last, p) > width:
            break
        if bits[p] <= limit:
            return p
        p += -1 if from_top else 1
    return -1


@kernel
def _steps(view: Any, first: Any, last: Any, unit: Any, steps: Any) -> Any:
    """List by how much a row's allowed counts differ from its end, from 0 on; return how many."""
    bits, limit, from_top, width = view[0], view[3], view[4], view[5]
    number = 0
    step = -1 if from_top else 1
    p = _next(view, first, last, last if from_top else first)
    while p >= 0:
        end = p & ~MASK if from_top else p | MASK  # of the block, which is read without a call
        end = max(end, first) if from_top else min(end, last)
        for k in range(p, end + step, step):
            if bits[k] <= limit:
                distance = _distance(view, first, last, k)
                if distance > width:
                    return number
                steps[number] = distance // unit
                number += 1
        p = _next(view, first, last, end + step)
    return number


@kernel
def common_divisor(view: Any, first: Any, last: Any, steps: Any) -> Any:
    """Return the greatest common divisor of all steps; 0 if all are 0."""
    divisor = np.int64(0)
    for row in range(len(first)):
        for k in range(_steps(view, first[row], last[row], np.int64(1), steps)):
            a, b = divisor, steps[k]
            while b:
                a, b = b, a % b
            divisor = a
            if divisor == 1:
                return divisor
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
def _begin_row(old: Any, reached: Any, steps: Any, number: Any, width: Any, state: Any) -> None:
    """Prepare the sums for one more row's steps; see :func:`reaches` for ``state``."""
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
    state[3], state[4], state[5], state[6], state[7] = 1, number, divisor, limit, 0


@kernel
def _add_row(
    reached: Any, old: Any, run: Any, steps: Any, width: Any, state: Any, budget: Any
) -> Any:
    """Go on adding one row's steps to the set of reached sums; return what is left of the budget.

    A step that the divisor of all steps divides changes nothing from where on all multiples of
    the divisor are reached. Arithmetic progressions of steps are added by doubling shifts.
    """
    k, number, divisor, limit, added = state[3], state[4], state[5], state[6], state[7]
    words = (limit + 63) >> 6
    while k < number and steps[k] < limit:
        if budget < 0:
            state[3], state[6], state[7] = k, limit, added
            return budget
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
                budget -= words
            if covered < length:
                _or_shifted_itself(run, (length - covered) * gap, words)
            _or_shifted(reached, run, steps[k], words)
            k += length
            budget -= 2 * words
        added += 1
        budget -= words
        if added & 15 == 0:
            limit = min(limit, _solid_from(reached, width, divisor))
            words = (limit + 63) >> 6
    if number > 1:
        state[0] = divisor
        state[1] = min(limit, _solid_from(reached, width, divisor))
    state[3] = 0
    return budget


@kernel
def reaches(
    view: Any,
    first: Any,
    last: Any,
    unit: Any,
    steps: Any,
    reached: Any,
    stored: Any,
    old: Any,
    run: Any,
    state: Any,
    early: bool,
    budget: Any,
) -> Any:
    """Go on adding the steps of all rows, the last first, to the reached sums.

    Return whether it is done: all rows are added or, if ``early``, the width (in units) is
    reached. Otherwise the ``budget`` of words is spent, and the next call goes on.
    ``stored[row]`` receives the sums of rows from ``row`` on, where there is room.

    ``state`` holds the divisor of all steps so far; from where on all its multiples are reached;
    how many rows are left; and of the row that was begun the next step (0: it is to be begun),
    the number of steps, the divisor with them, where they end to change anything, and how many
    were added.
    """
    store = len(stored) > 1
    target = view[5] // unit
    words = (target >> 6) + 1
    while state[2] > 0:
        row = state[2] - 1
        if state[3] == 0:
            number = _steps(view, first[row], last[row], unit, steps)
            _begin_row(old, reached, steps, number, target, state)
            budget -= words
        budget = _add_row(reached, old, run, steps, target, state, budget)
        if state[3] > 0:
            return False
        state[2] = row
        if store:
            np.positive(reached[:words], stored[row, :words])
        if early and (reached[target >> 6] >> np.uint64(target & 63)) & ONE:
            return True
        if budget < 0 and row > 0:
            return False
    return True


@kernel
def trace(view: Any, first: Any, last: Any, unit: Any, stored: Any, entries: Any) -> None:
    """Choose each row's least count with which the later rows can still reach the total."""
    from_top = view[4]
    step = -1 if from_top else 1
    rest = view[5] // unit
    for row in range(len(first)):
        best, taken = -1, 0
        p = _next(view, first[row], last[row], last[row] if from_top else first[row])
        while p >= 0:
            distance = _distance(view, first[row], last[row], p) // unit
            left = rest - distance
            if left < 0:
                break
            if (stored[row + 1, left >> 6] >> np.uint64(left & 63)) & ONE:
                best, taken = p, distance
                if not from_top:
                    break
            p = _next(view, first[row], last[row], p + step)
        entries[row] = best
        rest -= taken


@kernel
def costs_between(view: Any, first: Any, last: Any, infeasible: Any, found: Any) -> Any:
    """Collect the costs in the view above ``infeasible``; return how many, or one more than fit."""
    bits, from_top = view[0], view[4]
    step = -1 if from_top else 1
    number = 0
    for row in range(len(first)):
        p = _next(view, first[row], last[row], last[row] if from_top else first[row])
        while p >= 0:
            if infeasible < bits[p]:
                if number == len(found):
                    return number + 1
                found[number] = bits[p]
                number += 1
            p = _next(view, first[row], last[row], p + step)
    return number
