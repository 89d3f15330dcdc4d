"""Affine costs, and those that become steeper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from makespan.core.errors import Mistake, ProblemError


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


@dataclass(frozen=True, slots=True)
class Convex(Affine):
    """A computing cost that is affine up to a size and grows faster beyond it, once or more.

    Of a memory hierarchy: what fits into the cache or the memory is computed at ``per_unit``, the
    units of a chunk beyond that at a greater cost.

    Parameters
    ----------
    fixed, per_unit
        As of an :class:`Affine`.
    beyond
        Pairs of a size in units and the seconds that each unit beyond it costs; both increase.

    Notes
    -----
    Source: M. Drozdowski and P. Wolniewicz, Out-of-core divisible load processing, IEEE Trans.
    Parallel Distrib. Syst. 14(10), 2003: a piecewise linear time of the size of a chunk.

    Examples
    --------
    Of 5 units, 3 lie beyond the 2 that are fast:

    >>> Convex(0.5, 1.0, beyond=((2.0, 4.0),)).of(5.0)
    14.5
    """

    beyond: tuple[tuple[float, float], ...] = ()

    def of(self, amount: float) -> float:
        """Return the seconds that ``amount`` units cost."""
        seconds, rate = Affine.of(self, amount), self.per_unit
        for units, slower in self.beyond:
            seconds += (slower - rate) * max(0.0, amount - units)
            rate = slower
        return seconds


def as_convex(cost: Any) -> Affine:
    """Return ``cost`` as a computing cost: one without anything beyond is an :class:`Affine`.

    >>> as_convex({"per_unit": 2.0, "beyond": [[8, 3.0]]})
    Convex(fixed=0.0, per_unit=2.0, beyond=((8, 3.0),))
    """
    if isinstance(cost, dict) and "beyond" in cost:
        cost = Convex(**cost)
    if not isinstance(cost, Convex):
        return as_affine(cost)
    beyond: Any = cost.beyond
    beyond = beyond.tolist() if hasattr(beyond, "tolist") else beyond  # an array
    if isinstance(beyond, (tuple, list)):
        pairs = tuple(tuple(pair) if isinstance(pair, list) else pair for pair in beyond)
        cost = Convex(cost.fixed, cost.per_unit, pairs)
    return cost if cost.beyond != () else Affine(cost.fixed, cost.per_unit)


def as_price(cost: Any) -> Affine:
    """Return ``cost`` as a price: one without anything per second is an :class:`Affine`.

    >>> as_price({"per_unit": 2.0, "per_second": 0.5})
    Price(fixed=0.0, per_unit=2.0, per_second=0.5)
    """
    if isinstance(cost, dict) and "per_second" in cost:
        return Price(**cost)
    return as_affine(cost)


def convert(machine: Any, **costs: Callable[[Any], Affine]) -> None:
    """Make costs of what was given for fields of a frozen object; None stays where it may stand."""
    for each in fields(machine):
        given = getattr(machine, each.name)
        if each.name in costs and not (given is None and each.default is None):
            object.__setattr__(machine, each.name, costs[each.name](given))


def as_affine(cost: Any) -> Affine:
    """Return ``cost`` as an :class:`Affine`: a number is a cost per unit, a pair is both parts.

    Raises ProblemError if it grows faster beyond some size.

    >>> as_affine(3.0)
    Affine(fixed=0.0, per_unit=3.0)
    """
    if isinstance(cost, Convex) and cost.beyond != ():
        text = "is only for what the workers of a star compute; other costs are affine"
        raise ProblemError((Mistake("cost.beyond", text),))
    if isinstance(cost, Affine):
        return cost
    if isinstance(cost, dict):
        return Affine(**cost)
    if isinstance(cost, (tuple, list)) and len(cost) == 2:
        return Affine(cost[0], cost[1])
    return Affine(0.0, cost)
