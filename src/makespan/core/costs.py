"""Affine costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Affine:
    """A cost of ``fixed + per_unit * x`` seconds for ``x > 0`` units, and 0 for ``x = 0``.

    Parameters
    ----------
    fixed
        Seconds that any positive amount costs (a latency, a start-up), 0 or more.
    per_unit
        Seconds per unit of load, 0 or more.

    Notes
    -----
    Values are validated by the problem that uses the cost.

    Source: Benoit 2016, latencies: ``C_i + c_i x`` and ``W_i + w_i x``.

    Examples
    --------
    >>> Affine(0.5, 2.0).of(3.0)
    6.5
    >>> Affine(0.5, 2.0).of(0.0)
    0.0
    """

    fixed: float = 0.0
    per_unit: float = 0.0

    def of(self, amount: float) -> float:
        """Return the seconds that ``amount`` units cost."""
        return self.fixed + self.per_unit * amount if amount > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Price(Affine):
    """What it costs to use a machine: ``fixed`` once, ``per_unit`` of its load, and ``per_second``
    of the whole plan: power, or rent, from its beginning to its end.

    >>> Price(5.0, 1.0, per_second=0.2).per_second
    0.2
    """

    per_second: float = 0.0


def as_price(cost: Any) -> Affine:
    """Return ``cost`` as a price: one without anything per second is an :class:`Affine`.

    >>> as_price({"per_unit": 2.0, "per_second": 0.5})
    Price(fixed=0.0, per_unit=2.0, per_second=0.5)
    """
    if isinstance(cost, dict) and "per_second" in cost:
        return Price(**cost)
    return as_affine(cost)


def as_affine(cost: Any) -> Affine:
    """Return ``cost`` as an :class:`Affine`: a number is a cost per unit, a pair is both parts.

    >>> as_affine(3.0)
    Affine(fixed=0.0, per_unit=3.0)
    """
    if isinstance(cost, Affine):
        return cost
    if isinstance(cost, dict):
        return Affine(**cost)
    if isinstance(cost, (tuple, list)) and len(cost) == 2:
        return Affine(cost[0], cost[1])
    return Affine(0.0, cost)
