"""Sorting by several keys, quicker than ``numpy.lexsort`` where the first key tells most apart."""

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
