"""What a number of samples costs a client: as stated, or a line through what was measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from makespan import Affine

Floats = NDArray[np.float64]
Stated = Affine | Mapping[int, float] | Callable[[Any], Any]

ALIKE = 0.25  # of the logarithm: counts that are so near share a point of the line
NEWEST = 0.3  # the weight of a measurement against the earlier ones of its point
OLDER = 0.7  # the weight of a point against the one that was measured next
JUMP = 1.5  # a client that is off by this factor at a known count has changed: it is learnt anew
TO_ZERO = 0.01  # how strongly the fixed part of the line is drawn to 0


class Cost:
    """A cost by the number of samples. Measurements move a stated cost as a whole."""

    def __init__(self, stated: Stated | None = None) -> None:
        self.stated, self.level = stated, 1.0
        self.points: dict[int, tuple[float, float]] = {}  # samples and cost, the newest last

    @property
    def known(self) -> bool:
        return self.stated is not None or bool(self.points)

    def at(self, samples: int) -> float:
        """Return the cost of so many samples, 0 where nothing is known."""
        return float(self.of(np.array([float(samples)]))[0]) if self.known else 0.0

    def record(self, samples: int, cost: float) -> None:
        """Take a measurement in."""
        if samples <= 0 or not 0.0 <= cost < np.inf:
            return
        if self.stated is not None:
            expected = self.at(samples)
            self.level *= (cost / expected) ** NEWEST if 0.0 < expected < np.inf else 1.0
            return
        key = round(math.log(samples) / ALIKE)
        at, was = self.points.pop(key, (float(samples), cost))
        ratio = cost * at / (was * samples) if was else 1.0
        if not 1 / JUMP <= ratio <= JUMP:
            self.points.clear()
            at, was = float(samples), cost
        self.points[key] = at + NEWEST * (samples - at), was + NEWEST * (cost - was)

    def of(self, samples: Floats) -> Floats:
        """Return the costs of numbers of samples, infinite where a number is not allowed."""
        stated = self.stated
        if stated is None:
            costs = self._line(samples)
        elif isinstance(stated, Affine):
            costs = stated.fixed + stated.per_unit * samples
        elif isinstance(stated, Mapping):
            costs = np.array([stated.get(round(each), np.inf) for each in samples])
        else:
            costs = np.asarray(stated(samples), np.float64)
        return np.where(samples > 0, self.level * costs, 0.0)

    def _line(self, samples: Floats) -> Floats:
        """Weighted least squares with a fixed part and a slope of 0 or more."""
        counts, costs = np.array(list(self.points.values())).T
        weights = OLDER ** np.arange(len(counts), dtype=np.float64)[::-1]
        total, first, second = (float(weights @ counts**power) for power in range(3))
        sides = np.array([weights @ costs, weights @ (counts * costs)])
        square = np.array([[total * (1.0 + TO_ZERO), first], [first, second]])
        fixed, slope = np.linalg.solve(square, sides)
        if fixed < 0.0 or slope <= 0.0:
            fixed, slope = 0.0, sides[1] / second
        return np.asarray(fixed + slope * samples, np.float64)
