"""A plan that is carried out again and again, each time with other durations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Schedule
from makespan.core.simulation.noise import Noise

NUMBERS_AT_ONCE = 4_000_000


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

    def disturbed(
        self,
        schedule: Schedule,
        noise: Noise,
        repetitions: int,
        generator: np.random.Generator,
        tasks: Sequence[str] | None = None,
    ) -> Floats:
        """Return the makespans of independent runs; ``tasks`` as in :meth:`Noise.groups`."""
        groups, errors = noise.groups(schedule, tasks)
        factors, makespans = len(errors), np.empty(repetitions)
        block = max(1, NUMBERS_AT_ONCE // max(1, len(schedule)))
        for first in range(0, repetitions, block):
            size = min(block, repetitions - first)
            drawn = np.ones((size, factors + 1))  # the last, of group -1, stays 1
            drawn[:, :factors] = noise.drawn(generator, (size, factors), errors)
            makespans[first : first + size] = self.makespans(drawn[:, groups])
        return makespans
