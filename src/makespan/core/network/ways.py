"""How machines exchange data without passing others: over a link, or over routers alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers, frozen

if TYPE_CHECKING:
    from makespan.core.network.interconnect import Interconnect


@dataclass(frozen=True, slots=True, eq=False)
class Ways:
    """What the way from every machine (row) to every other takes, and which links it shares.

    Parameters
    ----------
    seconds
        For a unit of data: those of the slowest link, as data leave a router while they enter it.
        Infinite where there is no way.
    latency
        The sum over the links. Infinite where there is no way.
    via
        The node before each node on the way from a machine, shape (machines, nodes); -1 for none.
    shared
        The links on the way that other transfers may hold, though ports are free: numbers from 0,
        then -1; shape (machines, machines, most on a way).
    ahead
        The latency before each of these.
    names
        What each shared link is called.
    """

    seconds: Floats
    latency: Floats
    via: Integers
    shared: Integers
    ahead: Floats
    names: tuple[str, ...]


def ways_of(network: Interconnect) -> Ways:
    """Return the ways of a network: of fewest links, and of lowest nodes among such.

    Complexity: O(n × nodes) where there are routers, O(n²) else, vectorised.

    >>> from makespan import Interconnect
    >>> ways = ways_of(Interconnect(4, topology="star", routers=["switch"], latency=0.5))
    >>> float(ways.latency[0, 1])
    1.0
    """
    count, nodes = len(network), len(network.nodes)
    rates, latencies, medium = network.arcs, network.latencies, network.medium
    seconds = np.full((count, nodes), np.inf)
    latency = np.full((count, nodes), np.inf)
    before = np.full((count, nodes), -1)
    most = 1 + len(network.routers)
    used = np.full((count, nodes, most), -1)
    ahead = np.zeros((count, nodes, most))
    deepest = 1
    for start in range(count):
        seconds[start, start] = latency[start, start] = 0.0
        seen = np.arange(nodes) == start
        frontier, depth = np.array([start]), 0
        while len(frontier):
            linked = (rates[frontier] > 0) & ~seen
            fresh = np.flatnonzero(linked.any(axis=0))
            via = frontier[linked[:, fresh].argmax(axis=0)]
            seconds[start, fresh] = np.maximum(seconds[start, via], 1.0 / rates[via, fresh])
            latency[start, fresh] = latency[start, via] + latencies[via, fresh]
            before[start, fresh] = via
            used[start, fresh] = used[start, via]
            ahead[start, fresh] = ahead[start, via]
            if len(fresh):
                used[start, fresh, depth] = medium[via, fresh]
                ahead[start, fresh, depth] = latency[start, via]
                depth += 1
                deepest = max(deepest, depth)
            seen[fresh] = True
            frontier = fresh[fresh >= count]
    latency, ahead = (_in_digits(each[:, :count]) for each in (latency, ahead[:, :, :deepest]))
    shared, ahead, media = _shared(used[:, :count, :deepest], ahead, latency)
    names = tuple(_name(network, int(number)) for number in media)
    return Ways(frozen(seconds[:, :count]), frozen(latency), frozen(before), shared, ahead, names)


def _in_digits(sums: Floats) -> Floats:
    """Return sums as decimals of 15 digits, without the rounding of floats."""
    values, places = np.unique(sums, return_inverse=True)
    return np.array([float(f"{value:.15g}") for value in values])[places].reshape(sums.shape)


def _shared(used: Integers, ahead: Floats, latency: Floats) -> tuple[Integers, Floats, Integers]:
    """Return the links that ports don't keep apart already, numbered anew, and their old numbers.

    A port does where all transfers over a link come from one machine, or go to one, and take
    equally long from there.
    """
    sender, receiver, place = np.nonzero(used >= 0)
    media, of = np.unique(used[sender, receiver, place], return_inverse=True)
    before = ahead[sender, receiver, place]
    behind = _in_digits(latency[sender, receiver] - before)
    kept = np.ones(len(media), dtype=bool)
    for machine, time in ((sender, before), (receiver, behind)):
        low, high = np.full((2, len(media)), np.inf), np.full((2, len(media)), -np.inf)
        for row, values in enumerate((machine, time)):
            np.minimum.at(low[row], of, values)
            np.maximum.at(high[row], of, values)
        kept &= (low != high).any(axis=0)
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    table = np.full(used.shape, -1)
    table[sender, receiver, place] = number[of]
    order = np.argsort(table < 0, axis=2, kind="stable")
    most = int((table >= 0).sum(axis=2).max(initial=0))
    table, ahead = (np.take_along_axis(each, order, axis=2)[:, :, :most] for each in (table, ahead))
    return frozen(table), frozen(np.where(table >= 0, ahead, 0.0)), media[kept]


def _name(network: Interconnect, number: int) -> str:
    """Return what a medium is called."""
    if network.topology == "bus":
        return "the bus"
    one, other = (network.nodes[node] for node in divmod(number, len(network.nodes)))
    return f"the link {one} {'→' if network.duplex else '–'} {other}"
