"""A plan that is carried out again and again, each time with other durations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Floats


@dataclass(frozen=True, slots=True)
class Replay:
    """The decisions of a plan: when it ends for factors on the durations of its rows.

    Parameters
    ----------
    end
        Takes one factor a row and returns the makespan, seconds.
    """

    end: Callable[[Floats], float]

    def makespans(self, factors: Floats) -> Floats:
        """Return the makespan for each row of an array (repetitions, rows)."""
        return np.array([self.end(row) for row in factors], dtype=np.float64)
