"""Lower bounds on the makespan of a reduction.

Reversed in time, a reduction is a broadcast from the root in which a sender spends ``reduce`` of
preparation per copy: a machine that starts a copy at time a has it arrive ``length`` = latency +
transfer + reduce later, and starts the next ``period`` = max(transfer, reduce) later at the
earliest. All bounds count copies in that broadcast.
"""

from __future__ import annotations

import math
from heapq import heappop, heappush
from typing import Any

import numpy as np

from makespan.core.result import Bound
from makespan.reduction.problem import Reduction
from makespan.reduction.rules import tables_of

SOURCE_GROWTH = "N(t) = N(t - period) + N(t - length); Canon and Antoniu, HiPC 2013, one segment"
SOURCE_CAPACITY = "counting copies: m(n - 1) arrivals at the fastest possible growth"


def bounds(problem: Reduction) -> tuple[Bound, ...]:
    """Return lower bounds on the makespan, seconds.

    Complexity: O(n log n) beyond reading the tables.
    """
    if problem.segments == "auto":
        return (_open_count(problem),)
    if len(problem.machines) == 1:
        return (Bound(value=0.0, name="one machine", source="nothing is sent"),)
    costs = _least(problem)
    root, capacity = root_bound(*costs), capacity_bound(*costs)
    machines, sizes, latency, transfer, _, both = costs
    sending = _seconds(problem, _sending(machines, sizes, latency, transfer, both))
    own = max(_busiest(problem), sending)
    return (
        Bound(value=_seconds(problem, root), name="growth", source=SOURCE_GROWTH),
        Bound(value=_seconds(problem, capacity), name="capacity", source=SOURCE_CAPACITY),
        Bound(value=own, name="ports", source="every segment passes each port on its way"),
    )


def best_bound(problem: Reduction) -> float:
    """Return the greatest of the bounds, seconds."""
    return max(bound.value for bound in bounds(problem))


Costs = tuple[int, list[Any], Any, Any, Any, bool]


def _least(problem: Reduction) -> Costs:
    """Return machines, sizes, least latency, transfer and reduce time, and if it is an all-reduce.

    Times are in the unit of the rules' tables.
    """
    tables = tables_of(problem)
    machines = len(problem.machines)
    apart = ~np.eye(machines, dtype=bool)
    if problem.times is not None:
        latency, transfer = tables.latency[0, 0], tables.transfer[0, 0]
    else:
        latency, transfer = tables.latency[apart].min(), tables.transfer[apart].min()
    reduce = tables.reduce.min() * (problem.collective != "broadcast")
    sizes = tables.size.tolist()
    both = problem.collective == "all-reduce"
    return machines, sizes, latency.item(), transfer.item(), reduce.item(), both


def _seconds(problem: Reduction, value: Any) -> float:
    return float(value) if problem.unit is None else float(value * problem.unit)


def arrivals(machines: int, length: Any, period: Any) -> list[Any]:
    """Return the earliest times at which machine 1, 2, … can have one segment, from 0 on.

    The k-th copy of a machine that has it since a arrives at a + length + (k - 1) period.

    Complexity: O(n log n).

    >>> arrivals(5, 3, 1)
    [0, 3, 4, 5, 6]
    """
    times = [length * 0]
    heap = [length]
    while len(times) < machines:
        time = heappop(heap)
        times.append(time)
        heappush(heap, time + length)
        heappush(heap, time + period)
    return times


def root_bound(
    machines: int, sizes: list[Any], latency: Any, transfer: Any, reduce: Any, both: bool
) -> Any:
    """Return LB1: all segments but one pass the root's bottleneck, and the last one grows."""
    total = sum(sizes)
    values = []
    for size in sorted(set(sizes)):
        period, length = max(transfer, reduce) * size, latency + (transfer + reduce) * size
        value = (total - size) * max(transfer, reduce) + arrivals(machines, length, period)[-1]
        if both:
            value += arrivals(machines, latency + transfer * size, transfer * size)[-1]
        values.append(value)
    return min(values)


def capacity_bound(
    machines: int, sizes: list[Any], latency: Any, transfer: Any, reduce: Any, both: bool
) -> Any:
    """Return LBcap: the earliest time by which m(n - 1) copies can have arrived."""
    size, segments = min(sizes), len(sizes)
    period, length = max(transfer, reduce) * size, latency + (transfer + reduce) * size
    wanted = segments * (machines - 1)
    holding = arrivals(machines, length, period)
    value = _least_time(holding, length, period, wanted)
    if both:
        value += arrivals(machines, latency + transfer * size, transfer * size)[-1]
    return value


def _least_time(holding: list[Any], length: Any, period: Any, wanted: int) -> Any:
    """Return the least T by which machines that send from ``holding`` on complete ``wanted``."""
    if period == 0:
        return length
    times = np.array(holding)

    def copies(end: Any) -> int:
        room = end - times - length
        return int((np.floor_divide(room[room >= 0], period) + 1).sum())

    if times.dtype.kind == "i":
        low, high = -1, int(length) + int(period) * wanted
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if copies(middle) >= wanted else (middle, high)
        return high
    below, above = 0.0, float(length) + float(period) * wanted
    while above - below > 1e-14 * above:
        centre = (below + above) / 2
        below, above = (below, centre) if copies(centre) >= wanted else (centre, above)
    return below


def _busiest(problem: Reduction) -> float:
    """Return what the ports and the root's unit need when costs differ, seconds."""
    if problem.times is not None:
        return 0.0
    machines, sizes = len(problem.machines), problem.sizes
    apart = ~np.eye(machines, dtype=bool)
    latency = np.where(apart, problem.latencies, np.inf)
    transfer = np.where(apart, problem.transfers, np.inf)
    total, least = float(sizes.sum()), float(sizes.min())
    combine = problem.reduces * (problem.collective != "broadcast")
    if problem.collective == "broadcast":
        latency, transfer = latency.T, transfer.T
    sending = total * transfer[1:].min(axis=1) + latency[1:].min(axis=1) + least * combine.min()
    into_root = total * transfer[1:, 0].min() + latency[1:, 0].min() + least * combine[0]
    first = float((latency[1:, 0] + least * transfer[1:, 0]).min())
    return max(float(sending.max()), float(into_root), first + total * float(combine[0]))


def _sending(machines: int, sizes: list[Any], latency: Any, transfer: Any, both: bool) -> Any:
    """Return what all sending ports together need in an all-reduce."""
    if not both:
        return 0
    total = 2 * (machines - 1) * sum(sizes) * transfer
    share = -(-total // machines) if isinstance(total, int) else total / machines
    return share + latency


def _open_count(problem: Reduction) -> Bound:
    """Return the least growth bound over all numbers of segments.

    From a to b segments, the first term of the bound is least at a and the second at b. The first
    alone exceeds the least bound found from some number on.
    """
    if len(problem.machines) == 1:
        return Bound(value=0.0, name="one machine", source="nothing is sent")
    best, low = math.inf, 1
    while True:
        high = low + low // 32
        passing = _growth(problem, low, first=True)
        if passing >= best:
            break
        best = min(best, passing + _growth(problem, high, first=False))
        low = high + 1
    return Bound(value=best, name="growth over all segment counts", source=SOURCE_GROWTH)


def _growth(problem: Reduction, segments: int, *, first: bool) -> float:
    """Return one of the two terms of the growth bound for a number of segments, seconds."""
    machines, _, latency, transfer, reduce, both = _least(problem.with_segments(segments))
    unit = problem.with_segments(segments).unit
    scale = 1 if unit is None else unit
    if first:
        return float((segments - 1) * max(transfer, reduce) * scale)
    last = arrivals(machines, latency + transfer + reduce, max(transfer, reduce))[-1]
    if both:
        last += arrivals(machines, latency + transfer, transfer)[-1]
    return float(last * scale)
