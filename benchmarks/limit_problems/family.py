"""A family of problems: one for each size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Family(NamedTuple):
    """Problems that differ in size alone.

    ``build`` makes one from a generator and a size; ``counts`` says what the size is. ``most`` is
    the largest that fits into memory, or that somebody could want.
    """

    name: str
    counts: str
    build: Callable[[np.random.Generator, int], Any]
    most: int = 10**6
    least: int = 2

    def problem(self, size: int) -> Any:
        """Return the problem of a size, the same at each call."""
        return self.build(np.random.default_rng(size), size)
