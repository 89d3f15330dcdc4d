"""Costs that are functions: nothing is tabulated until a method needs a table."""

from __future__ import annotations

from collections.abc import Callable
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

    Parameters
    ----------
    functions
        An :class:`Affine` or a :class:`Curve` per resource.
    lower, upper
        The least and the greatest count of each resource.
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
        allowed = (amounts >= self.lower) & (amounts <= self.upper)
        return np.where(allowed, costs, np.inf)

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
    """Return the costs of the counts from ``lower`` to ``upper``."""
    counts = np.arange(lower, upper + 1, dtype=np.int64)
    if isinstance(function, Affine):
        costs = function.fixed + function.per_unit * counts
        return np.where(counts > 0, costs, 0.0)
    if isinstance(function, Curve):
        function = function.function
    costs = np.asarray(function(counts), dtype=np.float64)
    return np.broadcast_to(costs, counts.shape)
