"""Arrays that nobody writes into."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

Array = TypeVar("Array", bound="np.ndarray[Any, Any]")


def frozen(array: Array) -> Array:
    """Make an array read-only and return it."""
    array.flags.writeable = False
    return array
