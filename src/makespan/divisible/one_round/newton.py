"""The least time for a load from the most load by a time, and a bound on what searches leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.divisible.one_round.ending_together import AffineCosts, least_end

CELLS = 256


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Remainder:
    """Tables of a bound on the load that any workers do in the remaining time r <= T.

    A worker that starts with at most r seconds left gets at most A = (r - C - W)/(c + w). Its
    fixed cost C is then at least C/A a unit, and W at least W/A: with the costs per unit
    c + C/A and w + W/A and no fixed costs, every plan stays possible. So the linear star with
    these costs, served by non-decreasing c + C/A, bounds the load from above.

    The costs are tabulated for r at the upper end of each of G cells of (0, T].
    """

    place: Integers  # (G, n): the workers by non-decreasing c + C/A, those that can be used first
    gain: Floats  # (G, n): A/r, in the order of ``place``
    keep: Floats  # (G, n): the part 1 - (C + c A)/r of the port's time that the worker leaves
    usable: Integers  # (G,): how many workers can be used

    @classmethod
    def within(cls, costs: AffineCosts, horizon: float, cells: int = CELLS) -> Remainder:
        """Tabulate the bound for the time ``horizon``."""
        room = horizon * np.arange(1, cells + 1)[:, np.newaxis] / cells
        amount = (room - costs.start_up) / costs.total
        can = amount > 0.0
        amount[~can] = 0.0
        port = costs.send_fixed + costs.send * amount
        with np.errstate(divide="ignore", invalid="ignore"):
            per_unit = np.where(can, port / amount, np.inf)
        place = np.argsort(per_unit, axis=1, kind="stable")
        return cls(
            place=place,
            gain=np.take_along_axis(amount / room, place, axis=1),
            keep=np.take_along_axis(np.maximum(0.0, 1.0 - port / room), place, axis=1),
            usable=np.count_nonzero(can, axis=1),
        )

    def per_second(self, allowed: np.ndarray) -> Floats:
        """Return the bound of each cell, per second left, for some of the workers.

        ``allowed``: (n,) of bool.
        """
        here = allowed[self.place]
        share = np.cumprod(np.where(here, self.keep, 1.0), axis=1)
        before = np.concatenate([np.ones((len(share), 1)), share[:, :-1]], axis=1)
        bound: Floats = (before * self.gain * here).sum(axis=1)
        return bound


WIDTHS = (16, 512, 16384, 10**9)
PROVED = 1e-11
BEATS = 1.0 + 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSubset:
    """What a search found: a sequence that beats the target, if any."""

    load: float  # what the sequence does by the horizon; 0 where none beats the target
    sequence: list[int]  # the workers that take part, in the order of service
    upper: float  # no sequence does more by the horizon
    states: int = 0  # how many partial sequences were kept


class SubsetSearch(Protocol):
    """Seeks the sequence of workers that does the most load by ``horizon``.

    It keeps at most ``width`` partial sequences at a time, the most promising ones. With enough
    of them, ``upper`` is the best load or the target.
    """

    def __call__(self, horizon: float, target: float, width: int) -> FoundSubset: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BestSubset:
    """The best sequence known, and how good any sequence can be."""

    value: float  # the end for a given load, or the load for a given end
    sequence: list[int]  # the workers that take part, in the order of service
    bound: float  # no sequence ends earlier, or does more
    states: int = 0  # how many partial sequences were kept in all searches

    @property
    def proved(self) -> bool:
        """Whether the bound is met."""
        return abs(self.value - self.bound) <= PROVED * self.value


def least_time(
    costs: AffineCosts, load: float, search: SubsetSearch, control: Control, start: BestSubset
) -> BestSubset:
    """Return the sequence that does ``load`` first.

    The most load L(T) by the time T grows with T. Where the search finds a sequence that does
    more than ``load`` by T, its end is lowered to its own; where none does, T is optimal. Searches
    are narrow first, so that the last ones, which are complete, have the least to do. As loads
    and the time can be scaled by the same factor > 1, ``L(T) <= U`` shows that no plan ends
    before ``T * load / U``.

    ``start``: a sequence to start from and its end, which may be that of a plan outside the search.

    Source: Benoit 2016, latencies; the iteration is Newton's (Dinkelbach's) on L(T) = load.
    """
    end, sequence, bound, states = start.value, start.sequence, start.bound, start.states
    for width in WIDTHS:
        while not control.expired():
            own = costs.own_load(end)
            target = load * BEATS - own
            found = search(end, target, width)
            states += found.states
            bound = max(bound, min(end, end * load / (found.upper + own)))
            control.report(end, bound)
            if found.load <= target:
                break
            lower, kept = least_end(costs, found.sequence, load)
            if lower >= end * (1 - PROVED):
                break
            end, sequence = lower, kept
        best = BestSubset(value=end, sequence=sequence, bound=bound, states=states)
        if best.proved:
            break
    return best


def most_load(
    costs: AffineCosts, end: float, search: SubsetSearch, control: Control, start: BestSubset
) -> BestSubset:
    """Return the sequence that does the most load by ``end``, the master's part included.

    ``start``: the value to beat, at least the master's part.
    """
    own = costs.own_load(end)
    best = start
    for width in WIDTHS:
        if control.expired():
            break
        found = search(end, (best.value - own) * BEATS, width)
        bound = min(best.bound, found.upper + own)
        better = found.load > best.value - own
        value = found.load + own if better else best.value
        best = BestSubset(
            value=value,
            sequence=found.sequence if better else best.sequence,
            bound=max(value, bound),
            states=best.states + found.states,
        )
        if best.proved:
            break
    return best
