"""Long columns → a few bytes an entry, that the script of a page reads without help.

A column is written as the differences of its numbers, byte planes behind each other: first the
lowest byte of all, then the next, and so on. What hardly changes deflates to nearly nothing. All
columns of a page are deflated together, and unpacked by ``DecompressionStream``, which Chromium
knows from version 80 on, Safari from 16.4 and Firefox from 113.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

SHORT = 200  # columns up to this length stay lists that people can read
LONG = 10_000  # characters up to which a text stays as it is
LARGEST = 2**31 - 1


class Packing:
    """Columns on their way into a page.

    >>> packing = Packing()
    >>> packing.packed({"few": [1, 2], "many": list(range(1000))})
    {'few': [1, 2], 'many': {'packed': 'whole', 'at': 0, 'count': 1000}}
    >>> len(packing.text()) < 100
    True
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def packed(self, value: Any) -> Any:
        """Return data with references in the place of all long columns."""
        if isinstance(value, Mapping):
            return {name: self.packed(part) for name, part in value.items()}
        if isinstance(value, np.ndarray):
            return value.tolist() if len(value) <= SHORT else self._column(value)
        if isinstance(value, str):
            return value if len(value) <= LONG else self._put("json", 1, _json(value))
        if not isinstance(value, Sequence):
            return value
        if len(value) <= SHORT:
            return [self.packed(part) for part in value]
        if all(type(part) is int and abs(part) <= LARGEST for part in value) or all(
            type(part) is float for part in value
        ):
            return self._column(np.array(value))
        return self._put("json", len(value), _json(value))

    def _column(self, values: NDArray[Any]) -> dict[str, Any]:
        if values.dtype.kind in "iub":
            differences = np.diff(values.astype(np.int64), prepend=0)
            return self._put("whole", len(values), _planes(differences.astype("<i4")))
        if values.dtype == np.float32:
            return self._put("single", len(values), _planes(values.astype("<f4")))
        distinct, index = np.unique(values, return_inverse=True)
        if 2 * len(distinct) < len(values) and len(distinct) > SHORT:
            return {"packed": "of", "values": self._column(distinct), "index": self._column(index)}
        return self._put("real", len(values), _planes(values.astype("<f8")))

    def _put(self, how: str, count: int, content: bytes) -> dict[str, Any]:
        reference = {"packed": how, "at": self._size, "count": count}
        if how == "json":
            reference["bytes"] = len(content)
        self._parts.append(content)
        self._size += len(content)
        return reference

    def text(self) -> str:
        """Return all columns, deflated, as text; nothing where there are none."""
        if not self._parts:
            return ""
        return base64.b64encode(zlib.compress(b"".join(self._parts))).decode("ascii")


def in_ticks(times: ArrayLike, tick: float) -> NDArray[np.int64]:
    """Return times as whole numbers of ticks."""
    return np.rint(np.asarray(times, dtype=np.float64) / tick).astype(np.int64)


def _planes(values: NDArray[Any]) -> bytes:
    planes = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1).T
    return planes.tobytes()


def _json(value: Any) -> bytes:
    """Return what a page reads, the columns inside as lists."""
    lists = np.ndarray.tolist
    return json.dumps(value, allow_nan=False, separators=(",", ":"), default=lists).encode("ascii")
