"""Measured samples of a cost, and what is assumed between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers

INTERPOLATIONS = ("exact", "linear", "pchip", "step")


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Costs measured at some counts, with a named assumption about the counts between them.

    Nothing is assumed outside the samples: counts below the least and above the greatest are
    forbidden.

    Parameters
    ----------
    counts
        The counts that were measured, each once.
    costs
        Their costs, seconds.
    energies
        Their energies, where measured.
    interpolation
        ``"exact"``: only the measured counts are allowed. ``"linear"``: straight lines between
        neighbours. ``"pchip"``: the monotone cubic of Fritsch and Carlson. ``"step"``: a count
        costs what the next greater measured count costs (work is padded up to it).
    granularity
        Only multiples of this count are allowed (0 is one); with ``"exact"``, the samples that
        are not multiples are left out.

    >>> samples = Samples(counts=[0, 8, 32], costs=[0.0, 1.0, 2.0], granularity=8)
    >>> counts, costs, _ = samples.filled()
    >>> counts.tolist(), [round(cost, 3) for cost in costs.tolist()]
    ([0, 8, 16, 24, 32], [0.0, 1.0, 1.333, 1.667, 2.0])
    """

    counts: Sequence[int]
    costs: Sequence[float]
    energies: Sequence[float] | None = None
    interpolation: str = "linear"
    granularity: int = 1

    def filled(self) -> tuple[Integers, Floats, Floats | None]:
        """Return the allowed counts with their costs and energies."""
        counts = np.asarray(self.counts, dtype=np.int64)
        order = np.argsort(counts, kind="stable")
        counts = counts[order]
        costs = np.asarray(self.costs, dtype=np.float64)[order]
        energies = self.energies
        measured = None if energies is None else np.asarray(energies, dtype=np.float64)[order]
        unit = self.granularity
        if self.interpolation == "exact":
            kept = counts % unit == 0
            return counts[kept], costs[kept], None if measured is None else measured[kept]
        first = math.ceil(int(counts[0]) / unit) * unit
        wanted = np.arange(first, int(counts[-1]) + 1, unit, dtype=np.int64)
        between = _BETWEEN[self.interpolation]
        filled = None if measured is None else between(counts, measured, wanted)
        return wanted, between(counts, costs, wanted), filled


def _linear(counts: Integers, costs: Floats, wanted: Integers) -> Floats:
    return np.interp(wanted, counts, costs)


def _step(counts: Integers, costs: Floats, wanted: Integers) -> Floats:
    return costs[np.searchsorted(counts, wanted)]


def _pchip(counts: Integers, costs: Floats, wanted: Integers) -> Floats:
    """Cubic pieces with slopes that keep each piece monotone where its samples are.

    Source: Fritsch and Butland 1984, weighted harmonic means.
    """
    if len(counts) < 3:
        return np.interp(wanted, counts, costs)
    width = np.diff(counts).astype(np.float64)
    slope = np.diff(costs) / width
    weight = np.stack([2 * width[1:] + width[:-1], width[1:] + 2 * width[:-1]])
    tangent = np.zeros(len(counts))
    turns = slope[1:] * slope[:-1] <= 0
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = weight.sum(axis=0) / (weight[0] / slope[:-1] + weight[1] / slope[1:])
    tangent[1:-1] = np.where(turns, 0.0, mean)
    tangent[0] = _end_tangent(width[0], width[1], slope[0], slope[1])
    tangent[-1] = _end_tangent(width[-1], width[-2], slope[-1], slope[-2])
    piece = np.clip(np.searchsorted(counts, wanted, side="right") - 1, 0, len(width) - 1)
    h = width[piece]
    t = (wanted - counts[piece]) / h
    left = (1 + 2 * t) * (1 - t) ** 2 * costs[piece] + t * (1 - t) ** 2 * h * tangent[piece]
    right = t**2 * (3 - 2 * t) * costs[piece + 1] + t**2 * (t - 1) * h * tangent[piece + 1]
    ends = np.minimum(costs[piece], costs[piece + 1]), np.maximum(costs[piece], costs[piece + 1])
    return np.clip(left + right, *ends)  # the pieces are monotone, but for rounding


def _end_tangent(near: float, far: float, slope: float, next_slope: float) -> float:
    """Three-point tangent at an end, cut so that the end piece stays monotone."""
    tangent = ((2 * near + far) * slope - near * next_slope) / (near + far)
    if tangent * slope <= 0:
        return 0.0
    if slope * next_slope < 0 and abs(tangent) > 3 * abs(slope):
        return 3 * slope
    return float(tangent)


_BETWEEN = {"linear": _linear, "step": _step, "pchip": _pchip}
