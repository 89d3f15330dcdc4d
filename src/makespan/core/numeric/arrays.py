"""Arrays: their types, read-only views, rows as lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
SHORT = 1_000  # entries of a column below which one value is written down for each: it is quicker
Array = TypeVar("Array", bound="np.ndarray[Any, Any]")


def frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array


def equal(one: Any, other: Any) -> bool:
    """Whether two values are equal, arrays entry by entry."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)


def equal_in(names: Iterable[str], one: object, other: object) -> bool:
    """Whether two objects have equal attributes of these names."""
    return all(equal(getattr(one, name), getattr(other, name)) for name in names)


def repeated(count: Integers) -> tuple[Integers, Integers]:
    """Return each index as often as its count says, and beside it 0, 1, 2, …

    >>> [each.tolist() for each in repeated(np.array([2, 0, 1]))]
    [[0, 0, 2], [0, 1, 0]]
    """
    index = np.repeat(np.arange(len(count)), count)
    return index, np.arange(len(index)) - np.repeat(np.cumsum(count) - count, count)


def condensed(column: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the first entry of a column that is one number throughout, else the column.

    >>> condensed(constant(3, 1_000_000, np.int64)).tolist(), condensed(np.arange(2)).tolist()
    ([3], [0, 1])
    """
    return column[:1] if column.strides == (0,) else column


def constant(value: Any, length: int, dtype: Any) -> np.ndarray[Any, Any]:
    """Return a read-only column of one value; a long one takes no memory."""
    if length < SHORT:
        return frozen(np.full(length, value, dtype))
    return np.broadcast_to(np.array(value, dtype=dtype), length)


def readonly(*columns: Any) -> tuple[Any, ...]:
    """Return read-only views, one after another in memory: one type for the compiler; or None."""
    return tuple(
        None if column is None else frozen(np.ascontiguousarray(column).view())
        for column in columns
    )


class Rows(dict[int, list[float]]):
    """The rows of a table as lists, for loops in Python: each is made when it is first asked for.

    >>> Rows(np.eye(2))[1]
    [0.0, 1.0]
    """

    def __init__(self, table: np.ndarray) -> None:
        super().__init__()
        self._table = table

    def __missing__(self, row: int) -> list[float]:
        found: list[float] = self._table[row].tolist()
        self[row] = found
        return found
