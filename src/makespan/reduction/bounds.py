"""Lower bounds on the makespan of a reduction.

Reversed in time, a reduction is a broadcast from the root in which a sender spends ``reduce`` of
preparation per copy: a machine that starts a copy at time a has it arrive ``length`` = latency +
transfer + reduce later, and starts the next ``period`` = max(transfer, reduce) later at the
earliest. Growth and capacity count copies in that broadcast, exactly, with the least of each time;
so does the bound for ``order="greedy"``, in which every port takes the segments in order.

Before an all-reduce ends, the segment completed last is broadcast; before its broadcasts begin,
some segment is reduced, on whatever machine. So the bounds of one segment's way there and back add
up, and so do what all ports need one way and one segment the other way; the segments between are
counted in :mod:`makespan.reduction.bounding.completions`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.core.solution import Bound
from makespan.reduction.bounding import distances, growth
from makespan.reduction.bounding.class_trees import class_trees
from makespan.reduction.bounding.completions import least_seconds
from makespan.reduction.bounding.cuts import cuts
from makespan.reduction.bounding.flows import flows, goes_straight
from makespan.reduction.bounding.late_entries import late_entries
from makespan.reduction.bounding.one_segment import last_begun, one_segment
from makespan.reduction.bounding.open_count import least_between, open_count
from makespan.reduction.bounding.packing import packing, spans, spans_both_ways
from makespan.reduction.bounding.priced_trees import priced_trees
from makespan.reduction.problem import ROOT, Collective, Reduction

FEW_MACHINES = 200
FEW_PATHS = 50_000
"""Machines, and machines times segments, up to which all ways between machines are looked at."""
SOURCES = {
    "growth": "N(t) = N(t - period) + N(t - length); Canon and Antoniu 2013, one segment",
    "growth over all segment counts": "growth of one segment, and what the root's port needs for "
    "the others; Canon and Antoniu 2013",
    "capacity": "counting copies: each by the root leads to n - 1 at most, and no faster than one "
    "segment grows; Karp, Sahay, Santos and Schauser 1993, sending items more than once",
    "holders": "counting copies: by machines that hold something, who grow from those that do at "
    "first; Karp, Sahay, Santos and Schauser 1993",
    "doubling": "a power of two of machines that take and send all the time: in rounds as Bar-Noy "
    "and Kipnis 1994, each copy given on at once starts later in its round than it came",
    "order": "segments in order on every port: sends of the next follow, and those of one to the "
    "root stand together",
    "ports": "every segment passes each port on its way",
    "completions": "what all ports and units must do before and after segments are complete; a "
    "linear programme over when they are",
    "cuts": "what must enter or leave a group of machines, over ports and shared links; "
    "ForestColl, Zhao et al. 2024, with latencies",
    "late entries": "counting copies of the last segments that enter a group of machines; Karp, "
    "Sahay, Santos and Schauser 1993, over ports and shared links",
    "packing": "all cuts and all ports together: amounts over each way of which spanning trees can "
    "be made, of an all-reduce into and out of where segments are complete, a linear programme; "
    "Edmonds 1973, Beaumont, Legrand, Marchal and Robert 2005",
    "flows": "what goes from one machine to one other, over ports and shared links; a linear "
    "programme, Legrand, Marchal and Robert 2005, or its dual by prices, Plotkin, Shmoys and "
    "Tardos 1995",
    "priced trees": "no prices of machines and ports let segments earn more than both are worth; "
    "Held and Karp 1971, over time as in Ford and Fulkerson 1958",
    "class trees": "no prices of ports of classes of machines are paid for by the trees of all "
    "segments; Dantzig and Wolfe 1960, over time, and groups by how many of each class are in them",
    "one segment": "the least time of one segment from or to each machine, over all groups; of an "
    "all-reduce there and back, else after the others have passed the root; Bellman's recursion",
    "path": "the largest segment's way between the root and the machine farthest from it",
}


def bounds(problem: Reduction) -> tuple[Bound, ...]:
    """Return lower bounds on the makespan, seconds; beyond reading tables, in O(n log n)."""
    if len(problem.machines) == 1:
        return (Bound(value=0.0, name="one machine", source="nothing is sent"),)
    values = open_count(problem) if problem.segments == "auto" else _counted(problem)
    return tuple(Bound(value=values[name], name=name, source=SOURCES[name]) for name in values)


def _counted(problem: Reduction) -> dict[str, float]:
    """Return the bounds for a given number of segments by name, seconds."""
    if problem.collective == "all-reduce":
        values = _both_ways(problem)
    elif problem.collective in ("reduce", "broadcast"):
        values = _one_way(problem, problem.sizes, problem.collective)
    elif problem.statement.one_way:
        values = dealt(problem, *problem.statement.copied, back=problem.statement.combining)
    else:
        values = _in_groups(problem)
    if problem.ports is not None:  # the others count what one port a machine can do
        values = {name: values[name] for name in ("path", "one segment") if name in values}
    if problem.links is not None or problem.shared is not None or problem.ports is not None:
        values["cuts"] = cuts(problem)
    if _quick.get() or problem.times is not None:
        return values
    if problem.statement.one_way:
        values["late entries"] = late_entries(problem)
    if spans(problem) or spans_both_ways(problem):
        packed = packing(problem)
        values["packing"] = 0.0 if packed is None else packed.least
    if goes_straight(problem):
        values["flows"] = flows(problem)
    values["class trees"] = class_trees(problem, max(values.values()))
    if not values["class trees"]:
        values["priced trees"] = priced_trees(problem, max(values.values()))
    return values


_quick: ContextVar[bool] = ContextVar("quick", default=False)


@contextmanager
def quick_bounds(wanted: bool = True) -> Iterator[None]:
    """Leave out inside the block what takes longer than a plan: where no bound is shown to anybody.

    A search may then go on at a plan that is known to be the best by the others.
    """
    before = _quick.set(wanted)
    try:
        yield
    finally:
        _quick.reset(before)


def best_bound(problem: Reduction) -> float:
    """Return the greatest of the bounds, seconds."""
    return max(bound.value for bound in bounds(problem))


def grain(problem: Reduction) -> float | None:
    """Return the unit of which all times, sums and differences of costs, are multiples, or None."""
    if problem.segments == "auto" or problem.grid is None:
        return None
    unit, parts = problem.grid
    sizes = int(np.gcd.reduce(np.rint(problem.sizes * parts).astype(np.int64)))
    between: Any = problem.links
    tables: Any = problem.latency, problem.transfer
    if between is None and any(map(np.ndim, tables)):
        between = ~np.eye(len(problem.machines), dtype=bool)
    whole = [_whole(problem.latency, between, parts / unit)]
    for value in (problem.transfer, problem.reduce if problem.statement.combining else 0.0):
        whole.append(sizes * _whole(value, between, 1 / unit))
    if problem.shared is not None:
        whole.append(_whole(problem.shared.ahead.ravel(), ..., parts / unit))
    common = math.gcd(*whole)
    return float(common * unit / parts) if common else None


def _whole(value: Any, between: Any, scale: Fraction) -> int:
    """Return the greatest common divisor of what is a table between machines, or not."""
    table = np.asarray(value, dtype=float)
    entries = table[between] if table.ndim == 2 else table
    return int(np.gcd.reduce(np.rint(np.ravel(entries) * float(scale)).astype(np.int64)))


def _both_ways(problem: Reduction) -> dict[str, float]:
    """Return the bounds on an all-reduce, whose segments are combined on any machine."""
    least, machines = np.array([problem.sizes.min()]), len(problem.machines)
    grown = [_grown(problem, part, machines) for part in ("reduce", "broadcast")]
    values = {"growth": sum(grown), "ports": 0.0, "one segment": 0.0}
    latency, transfer = (least_between(table) for table in (problem.latency, problem.transfer))
    once = float(problem.sizes.sum()) * transfer * (machines - 1)
    each, ways = float(problem.sizes.min()), 1 / machines
    if problem.segment_sizes is None:  # the busiest port sends whole segments
        count = problem.items * (machines - 1)
        once, twice = (-(-count * way // machines) * transfer for way in (1, 2))
    else:
        once, twice = once * ways, 2 * once * ways
    apart = ~np.eye(machines, dtype=bool)
    alone = max(  # every machine sends and receives every segment at least once
        float(np.min(problem.transfers, axis=axis, where=apart, initial=np.inf).max())
        for axis in (0, 1)
    )
    last = latency + float(np.min(np.asarray(problem.reduce))) * each
    values["ports"] = (1 - growth.ROUNDING) * max(
        alone * float(problem.sizes.sum()) + latency, twice + latency,
        once + last + grown[1], grown[0] + latency + once,
    )  # fmt: skip
    if problem.times is None and machines <= FEW_MACHINES:
        size, quick = float(problem.sizes.max()), _quick.get()
        there, spread = (one_segment(problem, size, back=way, quick=quick) for way in (True, False))
        values["one segment"] = float((there + spread).min())
    costs = _Least.of(problem, least, "reduce")
    times = costs.latency, costs.transfer * costs.size, costs.reduce * costs.size
    known = max(values.values())
    values["completions"] = least_seconds(machines, problem.items, times, known) * (
        1 - growth.ROUNDING
    )
    return values


def _grown(problem: Reduction, part: Collective, machines: int) -> float:
    """Return how long one segment grows to so many machines, whichever is the root, seconds."""
    least = np.array([problem.sizes.min()])
    length, period, *_, unit = _Least.of(problem, least, part).in_units()
    return float(growth.arrivals(machines, length, period, length)[-1] * unit)


def _in_groups(problem: Reduction) -> dict[str, float]:
    """Return the bounds where each segment is combined, and then copied, among some machines.

    Who has a part gives it, or what is complete; who must get a segment takes it, or parts of it.
    """
    before, after, _ = problem.statement
    sizes, machines = problem.sizes, len(problem.machines)
    parts, wanted = before.sum(axis=0), after.sum(axis=0)
    gives = before & (wanted > after) & (wanted > 0)
    takes = after & (parts > before)
    sends = np.maximum(parts + wanted - 2, 0) * (wanted > 0)
    if not sends.any():
        return {"ports": 0.0}
    latency, transfer = problem.latencies, problem.transfers
    apart, busy = ~np.eye(machines, dtype=bool), [0.0]
    for axis, due in ((1, gives), (0, takes)):
        some = due.any(axis=1)
        lasts, lag = (
            np.min(table, axis=axis, where=apart, initial=np.inf)[some]
            for table in (transfer, latency)
        )
        busy += (due[some] @ sizes * lasts + lag).tolist()
    first, once = (least_between(table) for table in (problem.latency, problem.transfer))
    busy.append(float(sends @ sizes) * once / machines + first)  # of all ports in the mean
    values = {"ports": max(busy) * (1 - growth.ROUNDING), "growth": 0.0}
    for some, many in np.unique(np.stack([parts, wanted])[:, sends > 0], axis=1).T.tolist():
        grown = _grown(problem, "reduce", some) + _grown(problem, "broadcast", many)
        values["growth"] = max(values["growth"], grown)
    if problem.times is None and machines <= FEW_MACHINES and before.size <= FEW_PATHS:
        ways = distances(problem, float(sizes.min()), back=False, combining=False)
        pairs = before[:, sends > 0].astype(float) @ after[:, sends > 0].T > 0
        found = ways[pairs & np.isfinite(ways)]
        values["path"] = float(found.max(initial=0.0)) * (1 - growth.ROUNDING)
        values["cuts"] = cuts(problem)
    return values


def dealt(problem: Reduction, holds: Any, lacks: Any, *, back: bool) -> dict[str, float]:
    """Return bounds on copying segments from machines that hold them to machines that lack them.

    ``back``: in reversed time, a giver spends ``reduce`` per copy before it.
    """
    machines, sizes = len(problem.machines), problem.sizes
    latency, transfer = problem.latencies, problem.transfers
    if back:
        latency, transfer = latency.T, transfer.T
    work = problem.reduces if back else np.zeros(machines)
    apart = ~np.eye(machines, dtype=bool)

    def least(table: Any, axis: int) -> Floats:
        found = np.min(table, axis=axis, where=apart, initial=np.inf)
        return np.where(np.isfinite(found), found, 0.0)  # without a link, nothing is due

    wanted = lacks.sum(axis=0)
    due = np.array([sizes[row].sum() for row in lacks])
    sole = holds & (holds.sum(axis=0) == 1) & (wanted > 0)
    own = np.array([sizes[row].sum() for row in sole])
    small = float(sizes.min())
    takes = due * least(transfer, 0) + least(latency, 0) + work.min() * small
    port = own * least(transfer, 1) + least(latency, 1) + work * small
    unit = own * work + (least(transfer, 1) * small + least(latency, 1))
    busy = [takes[due > 0], port[own > 0], unit[own > 0]]
    values = {"ports": max(float(each.max(initial=0.0)) for each in busy) * (1 - growth.ROUNDING)}
    one = sole.any(axis=0)
    values["growth"] = values["path"] = 0.0
    if one.any():
        costs = _Least.of(problem, np.array([small]), "reduce" if back else "broadcast")
        length, period, _, _, _, scale = costs.in_units()
        last = growth.arrivals(int(wanted[one].max()) + 1, length, period, length)[-1]
        values["growth"] = float(last * scale)
        count = growth.copied_by(
            machines, int(holds.any(axis=1).sum()), length, period, int(lacks.sum())
        )
        values["holders"] = float(count * scale)
    if problem.times is None and machines <= FEW_MACHINES and len(sizes) * machines <= FEW_PATHS:
        ways = distances(problem, small, back=back, combining=back)
        # a row for each taker: from the nearest holder of each segment
        nearest = np.array([np.where(holds, row[:, None], np.inf).min(axis=0) for row in ways.T])
        found = np.where(lacks & np.isfinite(nearest), nearest, 0.0)
        values["path"] = float(found.max(initial=0.0)) * (1 - growth.ROUNDING)
        if one.all() and (holds | lacks).all():  # each goes from one machine to all
            alone = one_segment(problem, small, back=back, quick=_quick.get())
            values["one segment"] = float(alone[sole.any(axis=1)].max())
    return values


def _one_way(problem: Reduction, sizes: Floats, part: Collective) -> dict[str, float]:
    """Return the bounds on a reduction or a broadcast with the times of a problem, seconds."""
    machines, segments = len(problem.machines), len(sizes)
    costs = _Least.of(problem, sizes, part)
    length, period, port, first, rest, unit = costs.in_units()
    values = {
        "growth": float((rest + growth.arrivals(machines, length, period, first)[-1]) * unit),
        "capacity": float(growth.capacity(machines, length, period, segments) * unit),
    }
    if problem.order == "greedy":
        values["order"] = float(growth.in_order(machines, length, period, port, segments) * unit)
    if problem.times is None:
        values["ports"] = _busiest(problem, sizes, part)
        values["path"] = _farthest(problem, float(sizes.max()), part) * (1 - growth.ROUNDING)
        if machines <= FEW_MACHINES:
            values["one segment"] = last_begun(problem, quick=_quick.get())
    else:
        values["ports"] = 0.0
        values["doubling"] = float(growth.doubling(machines, length, port, segments) * unit)
    return values


class _Least(NamedTuple):
    """The least times between machines, the least latency at the root, and the sizes."""

    latency: Fraction
    transfer: Fraction
    reduce: Fraction
    to_root: Fraction
    size: Fraction
    total: Fraction

    @classmethod
    def of(cls, problem: Reduction, sizes: Floats, part: Collective) -> _Least:
        times = [
            least_between(problem.latency),
            least_between(problem.transfer),
            0.0 if part == "broadcast" else float(np.min(problem.reduce)),  # type: ignore[arg-type]
            _least_at_root(problem.latency, part),
        ]
        if problem.grid is None:
            total = Fraction(float(sizes.sum()) * (1 - growth.ROUNDING))
            return cls._make((*map(Fraction, times), Fraction(float(sizes.min())), total))
        unit, parts = problem.grid
        counts = np.rint(sizes * parts).astype(np.int64)
        least, total = Fraction(int(counts.min()), parts), Fraction(int(counts.sum()), parts)
        costs = (round(Fraction(value) / unit) * unit for value in times)
        return cls._make((*costs, least, total))

    def in_units(self) -> tuple[Any, ...]:
        """Return length, period and transfer of the least segment, the length of the root's own
        copies, the root's time for the rest, and the unit that they are counted in.

        The last segment that the root begins with grows alone, and only after the root's
        bottleneck has let the others pass. The bound grows with the size of that segment: the
        least one counts.
        """
        bottleneck = max(self.transfer, self.reduce)
        length = self.latency + (self.transfer + self.reduce) * self.size
        period, rest = bottleneck * self.size, bottleneck * (self.total - self.size)
        port = self.transfer * self.size
        first = self.to_root + (self.transfer + self.reduce) * self.size
        times = length, period, port, first, rest
        parts = math.lcm(*(time.denominator for time in times))
        return *(int(max(time, Fraction(0)) * parts) for time in times), Fraction(1, parts)


def _least_at_root(table: Any, part: Collective) -> float:
    """Return the least latency to the root, or from it in a broadcast."""
    if not np.ndim(table):
        return float(table)
    least = float((table[ROOT, 1:] if part == "broadcast" else table[1:, ROOT]).min())
    return least if math.isfinite(least) else 0.0  # the root need not have anything to do


def _busiest(problem: Reduction, sizes: Floats, part: Collective) -> float:
    """Return what the busiest port, or the root's unit, needs where times differ, seconds."""
    latency, transfer, combine = _tables(problem, part)
    apart = ~np.eye(len(combine), dtype=bool)
    total, least = float(sizes.sum()), float(sizes.min())
    sending = (
        total * np.min(transfer, axis=1, where=apart, initial=np.inf)
        + np.min(latency, axis=1, where=apart, initial=np.inf)
        + least * combine.min()
    )[1:]
    to_root = latency[1:, ROOT], transfer[1:, ROOT]
    into_root = total * to_root[1].min() + to_root[0].min() + least * combine[ROOT]
    first = float((to_root[0] + least * to_root[1]).min())
    busiest = max(float(sending.max()), float(into_root), first + total * float(combine[ROOT]))
    return busiest * (1 - growth.ROUNDING)


def _farthest(problem: Reduction, size: float, part: Collective) -> float:
    """Return how long a segment takes to the root from the farthest machine (Dijkstra 1959)."""
    latency, transfer, combine = _tables(problem, part)
    latency, transfer = (  # a row for each receiver; one number for all takes no memory
        table.T if 0 in table.strides else np.ascontiguousarray(table.T)
        for table in (latency, transfer)
    )
    distance = np.full(len(combine), np.inf)
    distance[ROOT] = 0.0
    ahead = np.ones(len(combine), dtype=bool)
    for _ in range(len(combine)):
        near = int(np.argmin(np.where(ahead, distance, np.inf)))
        ahead[near] = False
        hop = latency[near] + size * transfer[near] + size * combine[near]
        np.minimum(distance, distance[near] + hop, out=distance, where=ahead)
    return float(distance.max())


def _tables(problem: Reduction, part: Collective) -> tuple[Floats, Floats, Floats]:
    """Return latencies, transfers and reduce times of a reduction; of a broadcast, reversed."""
    if part == "broadcast":
        return problem.latencies.T, problem.transfers.T, np.zeros(len(problem.machines))
    return problem.latencies, problem.transfers, problem.reduces
