"""Sorting by several keys and finding pairs, quickly where that is easy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from makespan.core.schedule import Integers


def sorted_by(first: NDArray[Any], *others: NDArray[Any]) -> Integers:
    """Return the indices by rising ``first``, ties by the ``others`` in turn, then by index.

    Only what ties is sorted by more than one key. Complexity: O(n log n), vectorised.

    >>> sorted_by(np.array([2.0, 1.0, 2.0]), np.array([5, 9, 4])).tolist()
    [1, 2, 0]
    """
    order = np.argsort(first)
    values = first[order]
    equal = values[1:] == values[:-1]
    if equal.any():
        ties = np.zeros(len(order), dtype=bool)
        ties[1:] = equal
        ties[:-1] |= equal
        tied = order[ties]
        keys = (tied, *(other[tied] for other in reversed(others)), first[tied])
        order[ties] = tied[np.lexsort(keys)]
    return order


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
