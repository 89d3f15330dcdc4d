"""Workers with affine costs, served in a given sequence, who all end together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
        return AffineCosts(
            send_fixed=self.send_fixed[workers],
            send=self.send[workers],
            compute_fixed=self.compute_fixed[workers],
            compute=self.compute[workers],
            own=self.own,
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

    Where a worker's load falls to nothing on the way down, it is dropped: the others then have
    more time, so the load done does not fall. Infinite if nobody is left. Of many workers, the
    later half of those that get nothing is dropped at once.

    Complexity: O(n^2) in the length of the sequence; O(n log n) from thousands on.
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
    amount = np.maximum(0.0, slope * end - offset)
    plan = Plan.of(sequence, amount, master=costs.own_load(end))
    return plan.without_empty() if plan.total > 0.0 else plan
