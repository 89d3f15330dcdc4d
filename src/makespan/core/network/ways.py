"""How machines exchange data without passing others: over a link, or over routers alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers, frozen


class Wires(Protocol):
    """The part of an :class:`~makespan.core.network.interconnect.Interconnect` that is needed."""

    topology: str
    duplex: bool
    ports: str
    routers: tuple[str, ...]

    def __len__(self) -> int: ...

    @property
    def nodes(self) -> Sequence[str]: ...

    @property
    def arcs(self) -> Floats: ...

    @property
    def latencies(self) -> Floats: ...

    @property
    def medium(self) -> Integers: ...


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
    ports
        By which ports transfers leave and arrive, where machines have one for each link.
    """

    seconds: Floats
    latency: Floats
    via: Integers
    shared: Integers
    ahead: Floats
    names: tuple[str, ...]
    ports: Ports | None


@dataclass(frozen=True, slots=True, eq=False)
class Ports:
    """The ports by which a transfer leaves a machine (row), and arrives at another.

    Parameters
    ----------
    sending, receiving
        Numbers from 0, of all sending and of all receiving ports; -1 where there is no way.
    exits, entries
        Whose each is, and the node at the other end of its link, a row (machine, node) for each
        sending and each receiving port, machine by machine.
    """

    sending: Integers
    receiving: Integers
    exits: Integers
    entries: Integers

    @property
    def reversed(self) -> Ports:
        """The same in reversed time, in which what is received is sent."""
        return Ports(self.receiving.T, self.sending.T, self.entries, self.exits)


def ways_of(network: Wires) -> Ways:
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
    several = network.ports == "links" and network.topology != "bus"
    ports = _ports_of_links(network, before) if several else None
    shared, ahead, media = _shared(used[:, :count, :deepest], ahead, latency, ports)
    names = tuple(_name(network, int(number)) for number in media)
    seconds, before = frozen(seconds[:, :count]), frozen(before)
    return Ways(seconds, frozen(latency), before, shared, ahead, names, ports)


def _ports_of_links(network: Wires, via: Integers) -> Ports:
    """Return a sending and a receiving port for each link of a machine that some way takes."""
    count, nodes = len(network), len(network.nodes)
    start, goal = np.nonzero((via[:, :count] >= 0) & ~np.eye(count, dtype=bool))
    last = via[start, goal]
    following, node = goal.copy(), last
    while (node != start).any():  # back to the first link of each way
        ahead = node != start
        following = np.where(ahead, node, following)
        node = np.where(ahead, via[start, node], node)
    found = []
    for machine, other in ((start, following), (goal, last)):
        links, number = np.unique(machine * nodes + other, return_inverse=True)
        table = np.full((count, count), -1)
        table[start, goal] = number.ravel()
        found.append((frozen(table), frozen(np.column_stack(np.divmod(links, nodes)))))
    (sending, exits), (receiving, entries) = found
    return Ports(sending, receiving, exits, entries)


def _in_digits(sums: Floats) -> Floats:
    """Return sums as decimals of 15 digits, without the rounding of floats."""
    values, places = np.unique(sums, return_inverse=True)
    return np.array([float(f"{value:.15g}") for value in values])[places].reshape(sums.shape)


def _shared(
    used: Integers, ahead: Floats, latency: Floats, ports: Ports | None
) -> tuple[Integers, Floats, Integers]:
    """Return the links that ports don't keep apart already, numbered anew, and their old numbers.

    A port does where all transfers over a link leave by it, or all arrive by it, and take equally
    long from there.
    """
    sender, receiver, place = np.nonzero(used >= 0)
    media, of = np.unique(used[sender, receiver, place], return_inverse=True)
    before = ahead[sender, receiver, place]
    behind = _in_digits(latency[sender, receiver] - before)
    kept = np.ones(len(media), dtype=bool)
    pairs = sender, receiver
    ends = pairs if ports is None else (ports.sending[pairs], ports.receiving[pairs])
    for port, time in zip(ends, (before, behind), strict=True):
        low, high = np.full((2, len(media)), np.inf), np.full((2, len(media)), -np.inf)
        for row, values in enumerate((port, time)):
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


def _name(network: Wires, number: int) -> str:
    """Return what a medium is called."""
    if network.topology == "bus":
        return "the bus"
    one, other = (network.nodes[node] for node in divmod(number, len(network.nodes)))
    return f"the link {one} {'→' if network.duplex else '–'} {other}"
