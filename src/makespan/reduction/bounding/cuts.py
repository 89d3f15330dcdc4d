"""Cuts: what must get into a group of machines takes its time over the ways that lead there.

What enters a group does so over ports and shared links that carry so much a second at most. Any
set of these that all ways into the group pass bounds what can enter: the ports of those outside,
the ports of those inside, the first shared links, or the last ones.

Source: Zhao et al. 2024, "ForestColl": the bottleneck cut bounds the time of a
collective; there of links alone, without latencies.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from makespan.core.network.interconnect import Ports
from makespan.core.numeric.arrays import Floats, Integers
from makespan.reduction.bounding import distances, shortest
from makespan.reduction.bounding.growth import ROUNDING
from makespan.reduction.model import Bools
from makespan.reduction.problem import Reduction

FEW_MACHINES = 200
MOST_GROUPS = 400
ENTRIES = 4_000_000  # groups times different segments
ALL_RUNS = 16  # machines up to which all runs of neighbours in number are groups


class Directed(NamedTuple):
    """What a unit of data takes from machine (row) to machine: seconds, infinite without a way.

    ``work`` is what a giver spends on a unit before it sends it. ``first`` and ``last`` are the
    shared links on a way, -1 for none. ``distance`` is what a segment takes at least. ``ports`` are
    those of links, None where every machine has one of each sort.
    """

    seconds: Floats
    latency: Floats
    work: Floats
    first: Integers
    last: Integers
    distance: Floats
    ports: Ports | None


@lru_cache(maxsize=8)
def cuts(problem: Reduction, *, divisible: bool = False) -> float:
    """Return the bound of what must enter groups of machines, or leave them, seconds.

    ``divisible``: they may be cut into any number of segments, if links take as long for a byte.

    The last problems are remembered, as every method asks for bounds.
    Complexity: O(n³) and O(n²) for each of at most 400 groups, up to 200 machines; 0 beyond.
    """
    if len(problem.machines) > FEW_MACHINES:
        return 0.0
    before, after, combining = problem.statement
    back = combining and problem.statement.one_way
    ways, shared = directed(problem, back=back, least=0.0 if divisible else None)
    holds, lacks = problem.statement.copied
    if not problem.statement.one_way:
        holds, lacks = before, after
    both, alike = np.unique(np.concatenate([holds, lacks]), axis=1, return_inverse=True)
    holds, lacks = both[: len(holds)], both[len(holds) :]
    units = np.bincount(alike.ravel(), weights=problem.sizes, minlength=holds.shape[1])
    sets = groups(ways.distance, shared)[: max(len(holds), ENTRIES // len(units))]

    def entering(sets: Any) -> Any:
        inside, outside = (side.astype(float) @ holds > 0 for side in (sets, ~sets))
        wanted = sets.astype(float) @ lacks > 0
        return wanted & (~inside if problem.statement.one_way else outside)

    enters, leaves = entering(sets), entering(~sets)
    holders = enters.astype(float) @ holds.T > 0
    value = entering_bound(ways, sets, enters @ units, holders)
    over = np.isfinite(ways.seconds)

    def passing(amount: float, pairs: Bools) -> float:
        if amount <= 0:
            return 0.0
        return amount / capacity(ways, pairs) + float(ways.latency[pairs].min(initial=np.inf))

    for amounts, linked in ((enters @ units, over), (leaves @ units, over.T)):
        only = linked.sum(axis=0) == 1
        for middle in np.flatnonzero((linked & only).any(axis=1)).tolist():
            around = linked[middle] & only  # whom it alone has links with
            pairs = np.zeros_like(over)
            pairs[middle] = around
            pairs = pairs if linked is over else pairs.T
            value = max(value, passing(float(amounts[: len(over)][around].sum()), pairs))
    if shared.shape[2] or ways.ports:  # what is shared may carry both directions, or all
        both_ways = ((enters.astype(float) + leaves) @ units).tolist()
        for group, amount in zip(sets, both_ways, strict=True):
            value = max(value, passing(amount, over & (group[:, None] != group)))
        copies = lacks.sum(axis=0) if problem.statement.one_way else both.sum(axis=0) - 2
        value = max(value, passing(float(copies @ units), over))
    if shared.shape[2]:
        # whoever needs no shared link to another is in one group with it: once to each that lacks
        parts = without_shared(ways, shared).astype(float)
        if len(parts) > 1:
            held, wanted = parts @ holds > 0, parts @ lacks > 0
            one_way = problem.statement.one_way
            once = (wanted & ~held).sum(axis=0) if one_way else (held.sum(0) + wanted.sum(0) - 2)
            apart = over & (parts.T @ parts == 0)
            value = max(value, passing(float(np.maximum(once, 0) @ units), apart))
    if problem.statement.one_way:  # all ports together, each segment on its longest way
        hops = shortest(ways.seconds)
        rows = [hops[own].min(axis=0)[wanted] for own, wanted in zip(holds.T, lacks.T, strict=True)]
        longest = np.array([row.max(initial=0.0) for row in rows])
        if longest.any():
            lag = float(ways.latency[over].min())
            count = len(hops) if ways.ports is None else len(ways.ports.exits)
            value = max(value, float(longest @ units) / count + lag)
    return value * (1 - ROUNDING)


def directed(problem: Reduction, *, back: bool, least: float | None) -> tuple[Directed, Any]:
    """Return what copies take, of reversed time where ``back``, and all their shared links."""
    count, ways, ports = len(problem.machines), problem.shared, problem.ports
    latency, seconds = np.array(problem.latencies), np.array(problem.transfers)
    apart = ~np.eye(count, dtype=bool) if problem.links is None else problem.links
    seconds, latency = (np.where(apart, table, np.inf) for table in (seconds, latency))
    shared = np.full((count, count, 0), -1) if ways is None else ways.shared
    if back:
        seconds, latency, shared = seconds.T, latency.T, shared.transpose(1, 0, 2)
        ports = None if ports is None else ports.reversed
    first = shared[:, :, 0] if shared.shape[2] else np.full((count, count), -1)
    final = np.maximum((shared >= 0).sum(axis=2) - 1, 0)[:, :, None]
    last = np.take_along_axis(shared, final, axis=2)[:, :, 0] if shared.shape[2] else first
    work = np.array(problem.reduces) if back else np.zeros(count)
    least = float(problem.sizes.min()) if least is None else least
    distance = distances(problem, least, back=back, combining=back)
    return Directed(seconds, latency, work, first, last, distance, ports), shared


def without_shared(ways: Directed, shared: Any) -> Bools:
    """Return the groups of machines, a row each, that reach each other without a shared link."""
    count = len(ways.seconds)
    if not shared.shape[2]:
        return np.ones((1, count), dtype=bool)
    near = np.isfinite(shortest(np.where(shared[:, :, 0] < 0, ways.seconds, np.inf)))
    parts = np.unique(near | near.T, axis=0)
    return parts if (parts.sum(axis=0) == 1).all() else np.ones((1, count), dtype=bool)


def groups(distance: Floats, shared: Any) -> Bools:
    """Return groups of machines, a row each: single ones, runs, the nearest of each, and those
    that one shared link leads to, or from. Not all machines, and none twice.
    """
    count = len(distance)
    every = np.arange(count)
    found = [every == machine for machine in range(count)]
    for link in np.unique(shared[shared >= 0]).tolist():
        uses = (shared == link).any(axis=2)
        found += [uses.any(axis=0), uses.any(axis=1)]
    small = count <= ALL_RUNS
    for length in range(2, count):
        if small or count % length == 0:
            starts = range(count) if small or 2 * length == count else range(0, count, length)
            found += [(every - start) % count < length for start in starts]
    for row in np.argsort(distance, axis=1, kind="stable"):
        for length in range(2, count) if small else (count // 4, count // 2):
            near = np.zeros(count, dtype=bool)
            near[row[:length]] = True
            found.append(near)
    different = dict.fromkeys(group.tobytes() for group in (*found, *(~each for each in found)))
    table = np.array([np.frombuffer(each, dtype=bool) for each in different])
    return np.asarray(table[~table.all(axis=1) & table.any(axis=1)][:MOST_GROUPS])


def entering_bound(ways: Directed, sets: Bools, amount: Floats, holders: Bools) -> float:
    """Return when, at the earliest, the last unit can have entered, the latest of all groups.

    ``sets`` are groups, a row each, ``amount`` the units that must enter them, and ``holders`` who
    has any of that at first. Complexity: O(n²) for each group.
    """
    value = 0.0
    for group, units, held in zip(sets, amount.tolist(), holders, strict=True):
        if units > 0:
            over = np.isfinite(ways.seconds) & ~group[:, None] & group
            soonest = ways.distance[held].min(axis=0, initial=np.inf)
            begin = float(soonest[over.any(axis=1)].min(initial=np.inf))
            begin = begin if np.isfinite(begin) else 0.0
            lag = float(ways.latency[over].min(initial=np.inf))
            value = max(value, begin + units / capacity(ways, over) + lag)
    return value


def capacity(ways: Directed, over: Bools) -> float:
    """Return the most units a second that all ways ``over`` which something goes can carry."""
    rate = np.zeros(over.shape)
    with np.errstate(divide="ignore"):
        rate[over] = 1.0 / ways.seconds[over]
        giving = np.minimum(rate, np.where(ways.work > 0, 1.0 / ways.work, np.inf)[:, None])

    def together(numbers: Integers, rates: Floats) -> float:
        best = np.zeros(int(numbers.max(initial=0)) + 1)
        np.maximum.at(best, numbers[over], rates[over])
        return float(best.sum())

    if ways.ports is None:
        found = [float(giving.max(axis=1).sum()), float(rate.max(axis=0).sum())]
    else:
        found = [together(ways.ports.sending, giving), together(ways.ports.receiving, rate)]
    links = (ways.first, ways.last)
    return min(found + [together(link, rate) for link in links if (link[over] >= 0).all()])
