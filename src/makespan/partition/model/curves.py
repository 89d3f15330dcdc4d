"""Costs that are functions: nothing is tabulated until a method needs a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from makespan.core.costs import Affine
from makespan.core.errors import ProblemError
from makespan.core.numeric.arrays import Floats, Integers

ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Curve:
    """A cost as a function of the count that never falls.

    Parameters
    ----------
    function
        Takes an array of counts and returns their costs, seconds. It must not fall anywhere;
        where makespan sees that it does, it refuses it, but it does not look everywhere.

    >>> Curve(lambda count: 0.5 * count**1.5).of(np.array([0, 4])).tolist()
    [0.0, 4.0]
    """

    function: Callable[[Any], Any]

    def of(self, amounts: Integers) -> Floats:
        """Return the costs of an array of counts."""
        return np.asarray(self.function(amounts), dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """The costs of all resources as functions that never fall.

    ``functions``: an :class:`Affine` or a :class:`Curve` per resource. ``lower``, ``upper``: the
    least and the greatest count of each resource.
    """

    functions: tuple[Affine | Curve, ...]
    lower: tuple[int, ...]
    upper: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.functions)

    def evaluator(self) -> Callable[[Integers], Floats]:
        """Return what maps an array of counts, one row per resource, to their costs."""
        functions = self.functions
        fixed = np.array([getattr(function, "fixed", 0.0) for function in functions])
        per_unit = np.array([getattr(function, "per_unit", 0.0) for function in functions])
        others = [
            (row, function) for row, function in enumerate(functions) if isinstance(function, Curve)
        ]

        def costs(amounts: Integers) -> Floats:
            found: Floats = fixed[:, None] + per_unit[:, None] * amounts
            found[amounts <= 0] = 0.0
            for row, curve in others:
                found[row] = curve.function(amounts[row])
            if others:
                _refuse_falling(found, amounts)
            return found

        return costs

    def costs_of(self, amounts: Integers) -> Floats:
        """Return the cost of ``amounts[i]`` tasks on resource i, infinite where not allowed."""
        costs = self.evaluator()(amounts[:, None])[:, 0]
        return np.where((amounts >= self.lower) & (amounts <= self.upper), costs, np.inf)

    def size(self, tasks: int) -> int:
        """Return how many entries a table up to ``tasks`` would have."""
        return sum(
            max(0, min(upper, tasks) - lower + 1)
            for lower, upper in zip(self.lower, self.upper, strict=True)
        )


def _refuse_falling(costs: Floats, amounts: Integers) -> None:
    """Refuse costs of increasing counts that are NaN, negative, or fall by more than rounding."""
    with np.errstate(invalid="ignore"):
        falls = costs[:, 1:] < costs[:, :-1] * (1 - ROUNDING)
    if falls.any():
        row, at = (int(index[0]) for index in np.nonzero(falls))
        before, after = amounts[row, at], amounts[row, at + 1]
        raise ProblemError(
            f"costs[{row}]: the cost falls from {float(costs[row, at])!r} at {before} to "
            f"{float(costs[row, at + 1])!r} at {after}; a Curve never falls"
        )
    if not (costs >= 0).all():
        row, at = (int(index[0]) for index in np.nonzero(~(costs >= 0)))
        raise ProblemError(
            f"costs[{row}]: the cost of {amounts[row, at]} is {float(costs[row, at])!r}; "
            "a cost is 0 or more seconds"
        )


def tabulated(function: Affine | Curve | Callable[[Any], Any], lower: int, upper: int) -> Floats:
    counts = np.arange(lower, upper + 1, dtype=np.int64)
    if isinstance(function, Affine):
        costs = function.fixed + function.per_unit * counts
        return np.where(counts > 0, costs, 0.0)
    if isinstance(function, Curve):
        function = function.function
    costs = np.asarray(function(counts), dtype=np.float64)
    return np.broadcast_to(costs, counts.shape)


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
    """Cubic pieces that stay monotone where samples are (Fritsch and Butland 1984)."""
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
