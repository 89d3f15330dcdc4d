"""Sorting by several keys and finding pairs, quickly where that is easy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from makespan.core.numeric.arrays import Integers, readonly
from makespan.core.numeric.jit import loop

MANY = 10_000  # values from which packing them with their indices pays
SPARSE = 8  # times as many as occur, from which on places in a table would mostly be empty
SHIFTS = 4  # for each value, after which insertion sort gives up


def sorted_by(first: NDArray[Any], *others: NDArray[Any]) -> Integers:
    """Return the indices by rising ``first``, ties by the ``others`` in turn, then by index.

    Keys that fit together into 64 bits are sorted as one; of others, only what ties is sorted by
    the next. Complexity: O(n log n), vectorised; linear where ``first`` rises already and nothing
    ties, or there are no others.

    >>> sorted_by(np.array([2.0, 1.0, 2.0]), np.array([5, 9, 4])).tolist()
    [1, 2, 0]
    """
    packed = len(first) >= MANY and first.dtype in (np.float64, np.int64)
    if bool(np.all(first[1:] >= first[:-1])):
        order = np.arange(len(first))
        if not others:
            return order
        alike = first[1:] == first[:-1]
    elif packed:
        order, alike, others = _packed(first, others)
        if not others:
            return order
    else:
        order = np.argsort(first, kind="stable")
        values = first[order]
        alike = values[1:] == values[:-1]
    if alike.any():
        ties = np.zeros(len(order), dtype=bool)
        ties[1:] = alike
        ties[:-1] |= alike
        tied = order[ties]
        keys = [other[tied] for other in others]
        groups = np.zeros(len(order), dtype=np.int64)
        np.cumsum(~alike, out=groups[1:])
        group = groups[ties]
        if packed:
            within = sorted_by(*keys)  # then back into their groups
            within = within[sorted_by(group[within])]
        else:
            within = np.lexsort((*reversed(keys), group))
        order[ties] = tied[within]
    return order


def least_of(values: NDArray[Any], count: int) -> Integers:
    """Return the indices of about the ``count`` least values, rising, ties by index; all of few.

    No value that is left out is below one of them. Complexity: O(n + k log k) for k values.

    >>> least_of(np.array([3.0, 1.0, 2.0]), 1).tolist()
    [1]
    """
    if len(values) <= 2 * count:
        return sorted_by(values)
    least = np.flatnonzero(values <= np.partition(values, count - 1)[count - 1])
    return least[sorted_by(values[least])]


def _packed(
    first: NDArray[Any], others: tuple[NDArray[Any], ...]
) -> tuple[Integers, NDArray[np.bool_], tuple[NDArray[Any], ...]]:
    """Return the indices by rising values as far as they can be told apart, ties by index; which
    neighbours can't be; and the keys that tell them apart, none where only equal values tie.

    The leading bits of the values, as many as fit, stand above the indices in one column of
    integers: to sort that is several times as fast as to sort indices by values.
    """
    width = len(first).bit_length()
    packed, used = _bits(first)
    cut = max(0, used + width - 64)
    if cut:
        others = ((packed & np.uint64(2**cut - 1)).view(np.int64), *others)
        packed >>= np.uint64(cut)
    while others and not cut and others[0].dtype in (np.float64, np.int64):
        following, more = _bits(others[0])
        used += more
        if used + width > 64:
            break
        packed <<= np.uint64(more)
        packed |= following
        others = others[1:]
    packed <<= np.uint64(width)
    packed |= np.arange(len(first), dtype=np.uint64)
    packed.sort()
    leading = packed >> np.uint64(width)
    alike = leading[1:] == leading[:-1]
    packed &= np.uint64(2**width - 1)
    return packed.view(np.int64), alike, others


def _bits(values: NDArray[Any]) -> tuple[NDArray[np.uint64], int]:
    """Return numbers from 0 that rise as the values do, and how many bits they have.

    The last bits are left out where no value has any, as in whole numbers that are floats. Floats
    rise as their bits do, but for the sign: negative ones become negative integers.
    """
    bits = values
    if values.dtype == np.float64:
        bits = (values + 0.0).view(np.int64)  # -0.0 is 0.0
        if bits.min() < 0:
            negative = bits >> 63
            bits ^= negative & np.int64(2**63 - 1)
            bits -= negative
    least = int(bits.min())
    raised = bits.view(np.uint64) - np.uint64(least % 2**64)  # modulo 2^64, both
    used = int(np.bitwise_or.reduce(raised))
    empty = (used & -used).bit_length() - 1 if used else 0
    raised >>= np.uint64(empty)
    return raised, used.bit_length() - empty


def as_places(size: int, *keys: Integers) -> tuple[Integers, list[Integers]]:
    """Return rising keys, and where in them each key of the columns is.

    These are all below ``size`` or, where few of them occur, those that do, so that a table of what
    is known of each isn't much longer than the columns. Complexity: O(size), or that of sorting.

    >>> known, (one, other) = as_places(10**9, np.array([7, 1]), np.array([10**8, 7]))
    >>> known.tolist(), one.tolist(), other.tolist()
    ([1, 7, 100000000], [1, 0], [2, 1])
    """
    count = sum(map(len, keys))
    if size <= SPARSE * max(count, MANY):
        return np.arange(size), [*keys]
    known, places = np.unique(np.concatenate(keys), return_inverse=True)
    return known, np.split(places.ravel(), np.cumsum([len(each) for each in keys])[:-1])


def inverse(order: Integers) -> Integers:
    """Return the place of each index in an order of all.

    >>> inverse(np.array([2, 0, 1])).tolist()
    [1, 2, 0]
    """
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place


def grouped(group: Integers, value: NDArray[Any]) -> Integers:
    """Return the indices by rising ``group`` (0 or more), ties by ``value``, then by index.

    Complexity: O(n) where the values of each group nearly rise already, else after sorting them.

    >>> grouped(np.array([7, 0, 7]), np.array([2.0, 3.0, 1.0])).tolist()
    [1, 2, 0]
    """
    count, groups = len(group), int(group.max(initial=0)) + 1
    if inserted.pays(count) and groups <= count:
        first, order = np.zeros((2, groups + 1), dtype=np.int64), np.empty(count, dtype=np.int64)
        if inserted.compiled(*readonly(group, value), *first, order, SHIFTS * count):
            return order
    order = sorted_by(value)
    for shift in range(0, int(group.max(initial=0)).bit_length(), 16):  # such keys need no compares
        digits = (group >> shift).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
    return order


@loop(pays_from=1_000_000, loaded_from=100_000)
def inserted(group, value, first, after, order, shifts):  # type: ignore[no-untyped-def]
    """Write the indices by group, ties by value; return whether so many ``shifts`` were enough.

    ``first`` and ``after`` are zeros, one more than there are groups.
    """
    for row in range(len(group)):
        first[group[row] + 1] += 1
    for index in range(1, len(first)):
        first[index] += first[index - 1]
        after[index] = first[index]
    for row in range(len(group)):
        place, least = after[group[row]], first[group[row]]
        after[group[row]] += 1
        while place > least and value[order[place - 1]] > value[row]:
            order[place] = order[place - 1]
            place -= 1
            shifts -= 1
            if shifts < 0:
                return False
        order[place] = row
    return True


def places_of(wanted: Integers, keys: Integers, width: int) -> Integers:
    """Return where ``wanted`` stand in rising ``keys``, first of all; -1 where they don't.

    Keys are pairs: ``one * width + other``. Complexity: O(k + w) where no two keys have the same
    ``one``, else O(w log k).

    >>> places_of(np.array([12, 13, 40]), np.array([12, 25, 31]), width=10).tolist()
    [0, -1, -1]
    """
    if not len(keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    group = keys // width
    if (group[1:] > group[:-1]).all():
        table = np.full(int(group[-1]) + 2, -1, dtype=np.int64)
        table[group] = np.arange(len(keys))
        place = table[np.clip(wanted // width, -1, int(group[-1]) + 1)]
    else:
        place = np.searchsorted(keys, wanted)
        place[place == len(keys)] = -1
    return np.where(keys[place] == wanted, place, -1)
