"""Machines that count as alike, and groups by how many of each class are in them.

Of machines that are alike, only their number in a group counts. Where groups are too many still,
those that are nearly alike count as alike, with the least of their times: copies are counted then,
as of equal machines, but class by class.
"""

from math import prod
from typing import NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers

NOBODY = -1  # instead of a group from which one is taken who isn't in it


def classes_of(tables: list[Floats], most: float) -> list[Integers]:
    """Return the machines of each class: alike by all tables, or the nearest joined.

    They are joined until divisions of groups, for each pair of classes, are at ``most`` so many.
    """
    members = np.eye(len(tables[0]), dtype=bool)
    apart = np.max([_difference(table) for table in tables], axis=0)
    np.fill_diagonal(apart, np.inf)
    while len(members) > 1:
        one, other = sorted(divmod(int(np.argmin(apart)), len(apart)))
        if apart[one, other] > 0 and divisions(members.sum(axis=1)) <= most:
            break
        members[one] |= members[other]
        apart[one] = apart[:, one] = np.maximum(apart[one], apart[other])
        members = np.delete(members, other, axis=0)
        apart = np.delete(np.delete(apart, other, axis=0), other, axis=1)
    return [np.flatnonzero(row) for row in members]


def _difference(table: Floats) -> Floats:
    """Return how far the times of two machines, to and from all others, are apart at most."""
    finite = np.where(np.isfinite(table), table, 0.0)
    far = np.where(np.isfinite(table), table, 2 * finite.sum() + 1)
    count = len(far)
    found = np.zeros((count, count))
    for machine in range(count):
        between = np.maximum(abs(far - far[machine]), abs(far.T - far[:, machine]))
        between[:, machine] = 0.0
        np.fill_diagonal(between, 0.0)
        found[machine] = between.max(axis=1)
    return found


def divisions(sizes: Integers) -> int:
    """Return how many ways there are to divide a group in two, for each pair of classes."""
    ways: list[int] = [(size + 1) * (size + 2) // 2 for size in sizes.tolist()]
    return len(sizes) ** 2 * prod(ways)


def least(table: Floats, classes: list[Integers]) -> Floats:
    """Return the least entry of a table from machines of each class to those of each."""
    return np.array([[table[np.ix_(one, other)].min() for other in classes] for one in classes])


class Groups(NamedTuple):
    """Groups by their numbers, the empty one first, and how they are divided.

    ``parts[first[g] : first[g + 1]]`` are the groups that are parts of g; what is left of it is the
    difference of their numbers. ``without`` (group, class) is the group with one of a class less.
    """

    parts: Integers
    first: Integers
    without: Integers

    @classmethod
    def of(cls, sizes: Integers) -> "Groups":
        strides = np.cumprod([1, *(sizes + 1)])
        groups = np.arange(strides[-1])[:, None]
        members = groups // strides[:-1] % (sizes + 1)
        parts = []
        for inside in members.tolist():
            numbers = np.zeros(1, dtype=np.int64)
            for stride, most in zip(strides.tolist(), inside, strict=False):
                numbers = (numbers + stride * np.arange(most + 1)[:, None]).ravel()
            parts.append(numbers)
        without = np.where(members > 0, groups - strides[:-1], NOBODY)
        return cls(np.concatenate(parts), np.cumsum([0, *map(len, parts)]), without)
