"""Workers with affine costs who all end together, and the least time for a load from that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from makespan.core.control import Control
from makespan.core.costs import Affine
from makespan.core.numeric.arrays import Floats, Integers, readonly
from makespan.core.numeric.jit import loop
from makespan.divisible.model.plan import Plan
from makespan.divisible.problem import DivisibleLoad

MANY = 2_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AffineCosts:
    """The costs of one affine star, as columns: C, c, W and w of each worker."""

    send_fixed: Floats
    send: Floats
    compute_fixed: Floats
    compute: Floats
    own: Affine | None = None  # the master's cost of computing; None if it does not compute

    @classmethod
    def of(cls, problem: DivisibleLoad) -> AffineCosts:
        """Return the costs of a problem whose master is given."""
        star = problem.star
        return cls(
            send_fixed=star.send_fixed,
            send=star.send_per_unit,
            compute_fixed=star.compute_fixed,
            compute=star.compute_per_unit,
            own=star.master_cost if problem.master_computes else None,
        )

    def __len__(self) -> int:
        return len(self.send)

    @property
    def start_up(self) -> Floats:
        """C + W of each worker."""
        return self.send_fixed + self.compute_fixed

    @property
    def total(self) -> Floats:
        """What a unit costs each worker, c + w."""
        return self.send + self.compute

    def some(self, workers: Integers) -> AffineCosts:
        """Return the costs of some workers, in this order, and of the master."""
        return replace(
            self,
            send_fixed=self.send_fixed[workers],
            send=self.send[workers],
            compute_fixed=self.compute_fixed[workers],
            compute=self.compute[workers],
        )

    def own_load(self, end: float) -> float:
        """Return what the master computes by ``end``, units."""
        if self.own is None or end <= self.own.fixed:
            return 0.0
        return (end - self.own.fixed) / self.own.per_unit if self.own.per_unit else np.inf


def lines(costs: AffineCosts, sequence: list[int] | Integers) -> tuple[Floats, Floats]:
    """Return ``slope`` and ``offset``: the load of each worker is ``slope * T - offset``.

    The time that is left when a worker's transfer starts is affine in the end T, and so is its
    load ``(left - C - W)/(c + w)`` (Benoit 2016, latencies: all that take part end together).
    """
    workers = np.asarray(sequence, dtype=np.int64)
    slope, offset = np.zeros(len(workers)), np.zeros(len(workers))
    columns = (costs.send_fixed, costs.send, costs.compute_fixed, costs.compute)
    _lines.at(len(workers))(*readonly(workers, *columns), slope, offset)
    return slope, offset


@loop(pays_from=1_000)  # workers
def _lines(workers, latency, send, start_up, compute, slope, offset):  # type: ignore[no-untyped-def]
    left, spent = 1.0, 0.0  # the time left is ``left * T - spent``
    for j in range(len(workers)):
        worker = workers[j]
        total = send[worker] + compute[worker]
        if total == 0.0:
            continue
        slope[j] = left / total
        offset[j] = (spent + (latency[worker] + start_up[worker])) / total
        left *= compute[worker] / total
        spent += latency[worker] - send[worker] * offset[j]


def least_end(costs: AffineCosts, sequence: list[int], load: float) -> tuple[float, list[int]]:
    """Lower the end of a sequence until it does just ``load``; return the end and who is left.

    Where a worker's load falls to nothing on the way down, it is dropped: the others then have more
    time, so the load done does not fall. Infinite if nobody is left. Of many workers, the later
    half of those that get nothing is dropped at once. Complexity: O(n^2) in the length of the
    sequence; O(n log n) from thousands on.
    """
    sequence = list(sequence)
    if len(sequence) >= MANY:
        sequence = without_late(costs, np.array(sequence), load)[1].tolist()
    while True:
        slope, offset = lines(costs, sequence)
        end = _end(costs, float(slope.sum()), float(offset.sum()), load)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            empty_at = np.where(slope > 0, offset / slope, np.where(offset > 0, np.inf, -np.inf))
        last = len(sequence) == 1 and costs.own is None and load > 0  # whatever rounding says
        if last or not len(sequence) or empty_at.max() < end:
            return end, sequence
        del sequence[int(empty_at.argmax())]


def without_late(
    costs: AffineCosts, sequence: Integers, load: float
) -> tuple[float, Integers, Floats]:
    """Return the end, who is left, and how much they get, when of those that get nothing the
    later half is dropped, again and again: dropping one makes room for those before it.
    """
    while True:
        end, amount = equal_finish(costs, sequence, load)
        empty = np.flatnonzero(amount <= 0)
        if len(sequence) == 1 and len(empty) and costs.own is None and np.isfinite(end):
            return end, sequence, np.array([load])  # beside its fixed cost the load is rounding
        if not len(empty):
            return end, sequence, amount
        sequence = np.delete(sequence, empty[len(empty) // 2 :])


def equal_finish(costs: AffineCosts, sequence: Integers, load: float) -> tuple[float, Floats]:
    """Return when workers and the master end together with ``load`` done, and what each worker
    does: less than nothing where its fixed costs last beyond that.

    Source: Benoit 2016, latencies: all participating workers finish together in some optimum.
    """
    slope, offset = lines(costs, sequence)
    end = _end(costs, float(slope.sum()), float(offset.sum()), load)
    slope *= end
    slope -= offset
    return end, slope


def _end(costs: AffineCosts, slope: float, offset: float, load: float) -> float:
    """Return when workers, whose load by T is ``slope * T - offset``, and the master did it."""
    end = (load + offset) / slope if slope > 0 else np.inf
    own = costs.own
    if own is None or end <= own.fixed:
        return end
    if own.per_unit == 0:
        return own.fixed
    return (load + offset + own.fixed / own.per_unit) / (slope + 1.0 / own.per_unit)


def plan_of(costs: AffineCosts, sequence: list[int], end: float) -> Plan:
    """Return the plan in which the workers of ``sequence`` and the master end together."""
    slope, offset = lines(costs, sequence)
    plan = Plan.of(sequence, np.maximum(0.0, slope * end - offset), master=costs.own_load(end))
    return plan.without_empty() if plan.total > 0.0 else plan


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

    The most load L(T) by the time T grows with T. Where the search finds a sequence that does more
    than ``load`` by T, its end is lowered to its own; where none does, T is optimal. Searches are
    narrow first, so that the last ones, which are complete, have the least to do. As loads and the
    time can be scaled by the same factor > 1, ``L(T) <= U`` shows that no plan ends before ``T *
    load / U``.

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
