"""Machines, routers, the links between them, and the ways that data take over these."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.cached import cached_property
from makespan.core.inputs.rules import Mistakes, quoted, whole
from makespan.core.names import Numbered, index_by_name
from makespan.core.network.checks import LATENCY, cards, check_links, check_nodes, neighbours
from makespan.core.numeric.arrays import Floats, Integers, equal, frozen
from makespan.core.system.memory import claim


@dataclass(frozen=True, slots=True, eq=False)
class Ways:
    """Seconds and latency from every machine (row) to every other, or infinity; shared links."""

    seconds: Floats  # for a unit of data: those of the slowest link, as data flow through routers
    latency: Floats  # the sum over the links
    via: Integers  # (machines, nodes): the node before each node on the way; -1 for none
    shared: Integers  # (machines, machines, most on a way): links that others may hold, then -1
    ahead: Floats  # the latency before each of these
    names: tuple[str, ...]  # what each shared link is called
    ports: Ports | None  # where machines have one for each link


@dataclass(frozen=True, slots=True, eq=False)
class Ports:
    """The ports by which a transfer leaves a machine (row), and arrives at another.

    ``sending``, ``receiving``: numbers from 0, of all sending and of all receiving ports; -1 where
    there is no way. ``exits``, ``entries``: whose each is, and the node at the other end of its
    link, a row (machine, node) for each sending and each receiving port, machine by machine.
    """

    sending: Integers
    receiving: Integers
    exits: Integers
    entries: Integers

    @property
    def reversed(self) -> Ports:
        """The same in reversed time, in which what is received is sent."""
        return Ports(self.receiving.T, self.sending.T, self.entries, self.exits)


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
    several = network.ports == "links" and network.topology != "bus"
    ports = _ports_of_links(network, before) if several else None
    shared, ahead, media = _shared(used[:, :count, :deepest], ahead, latency, ports)
    names = tuple(_name(network, int(number)) for number in media)
    seconds, before = frozen(seconds[:, :count]), frozen(before)
    return Ways(seconds, frozen(latency), before, shared, ahead, names, ports)


def _ports_of_links(network: Interconnect, via: Integers) -> Ports:
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


def _name(network: Interconnect, number: int) -> str:
    if network.topology == "bus":
        return "the bus"
    one, other = (network.nodes[node] for node in divmod(number, len(network.nodes)))
    return f"the link {one} {'→' if network.duplex else '–'} {other}"


Link = tuple[Any, ...]
COUNT = whole("machines are", 0)


class Interconnect:
    """Machines and the links between them, whatever they do.

    Parameters
    ----------
    machines
        Their number, or their names; ``M1``, ``M2``, … of a number.
    topology
        ``complete``, ``bus`` (all transfers share one medium), ``star`` (the centre is the first
        router, or else the first machine), ``ring``, ``mesh``, ``torus``, ``hypercube``, ``tree``,
        ``nodes`` (complete in themselves; each has a router, ``card 1``, ``card 2``, …, and these
        meet at the router ``switch``), or ``links``: those given in ``links`` and
        ``one_way_links`` only.
    shape
        Extents of a mesh or torus, machines numbered with the last one fastest; the number of
        nodes, and of machines of each; the number of children in a tree (2 if omitted).
    rate
        Units of data per second of every link; with ``complete`` and ``bus`` also a table, from
        row to column. Infinity: the link takes no time.
    latency
        Seconds from when data enter a link until they begin to leave it, for all links.
    duplex
        Whether a link carries both directions at once.
    routers
        Names of nodes that only forward.
    links
        ``(a, b, rate)`` or ``(a, b, rate, latency)``: links in both directions; with a topology
        that has the link already, its rate and latency.
    one_way_links
        The same from ``a`` to ``b`` only.
    ports
        What a machine sends and receives by: ``"machines"``, one of each whatever its links, or
        ``"links"``, one of each for every link that it has.

    Notes
    -----
    Mistakes are reported by the problem that uses the network, all together.

    >>> list(Interconnect(4, topology="ring").nodes)
    ['M1', 'M2', 'M3', 'M4']
    """

    link_lengths: ClassVar[tuple[int, ...]] = (3, 4)
    """How many entries a link may have: its ends, its rate, its latency."""

    def __init__(
        self,
        machines: int | Sequence[str],
        *,
        topology: str = "complete",
        shape: Sequence[int] = (),
        rate: ArrayLike = 1.0,
        latency: float = 0.0,
        duplex: bool = True,
        routers: Sequence[str] = (),
        links: Sequence[Link] = (),
        one_way_links: Sequence[Link] = (),
        ports: str = "machines",
    ) -> None:
        self._mistakes = Mistakes()
        if isinstance(machines, Sequence) and not isinstance(machines, str):
            self.names: Sequence[str] = (
                machines if isinstance(machines, Numbered) else tuple(machines)
            )
        else:
            count = self._mistakes.number("network.machines", machines, COUNT)
            self.names = Numbered("M", 1 if math.isnan(count) else int(count), first=1)
        self.topology = topology
        self.shape: tuple[int, ...] = tuple(shape)
        self.rate: Floats = _rates(rate, self._mistakes)
        self.latency = latency
        self.duplex = duplex
        if topology == "nodes" and not routers and all(isinstance(each, int) for each in shape):
            routers = cards(self.shape) if len(self.shape) == 2 else ()
        self.routers: tuple[str, ...] = tuple(routers)
        self.links: tuple[Link, ...] = tuple(map(tuple, links))
        self.one_way_links: tuple[Link, ...] = tuple(map(tuple, one_way_links))
        self.ports = ports

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Interconnect):
            return NotImplemented
        return type(self) is type(other) and all(map(equal, self._parts, other._parts))

    __hash__ = None  # type: ignore[assignment]

    @property
    def _parts(self) -> tuple[Any, ...]:
        """What makes two networks equal."""
        return (
            self.names, self.topology, self.shape, self.rate, self.latency, self.duplex,
            self.routers, self.links, self.one_way_links, self.ports,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} machines, {self.topology}>"

    @cached_property
    def nodes(self) -> Sequence[str]:
        """The names of the machines, then of the routers."""
        return (*self.names, *self.routers) if self.routers else self.names

    @cached_property
    def arcs(self) -> Floats:
        """Rates from node to node, shape (nodes, nodes); 0 where there is no link."""
        return self._over_links(self.rate, 2)

    @cached_property
    def latencies(self) -> Floats:
        """Latencies from node to node, shape (nodes, nodes), seconds; 0 where there is no link."""
        return self._over_links(np.array(self.latency), 3)

    def _over_links(self, usual: Floats, place: int) -> Floats:
        """Return a table of links: ``usual``, or what a link has at this place of its own."""
        count = len(self.nodes)
        claim(96.0 * count * count, f"the routes between {count:,} machines and routers")
        table = np.zeros((count, count))
        if self.topology in ("complete", "bus"):
            table[: len(self), : len(self)] = usual
        else:
            for a, b in neighbours(self.topology, len(self), self.shape, len(self.routers)):
                table[a, b] = table[b, a] = usual
        position = index_by_name(self.nodes)
        for link in self.links:
            one, other = position[link[0]], position[link[1]]
            table[one, other] = table[other, one] = link[place] if place < len(link) else usual
        for link in self.one_way_links:
            one, other = position[link[0]], position[link[1]]
            table[one, other] = link[place] if place < len(link) else usual
        np.fill_diagonal(table, 0.0)
        return frozen(table)

    @cached_property
    def medium(self) -> Integers:
        """What a hop occupies where links are shared, shape (nodes, nodes).

        A duplex link has two media, one a direction; a bus has one medium in all.
        """
        count = len(self.nodes)
        numbers = np.arange(count * count).reshape(count, count)
        if self.topology == "bus":
            return frozen(np.zeros_like(numbers))
        return frozen(numbers if self.duplex else np.minimum(numbers, numbers.T))

    @cached_property
    def ways(self) -> Ways:
        """What direct exchanges take, and which links they share."""
        return ways_of(self)

    def in_messages(self, size: float, overhead: float) -> Interconnect:
        """Return the network for messages of one size: a unit of data is one of them.

        Every link takes the ``overhead``, seconds, for each message.
        """

        def rate(of_link: Any) -> Any:
            with np.errstate(divide="ignore"):
                return 1.0 / (overhead + size / np.asarray(of_link, dtype=float))

        def changed(links: Sequence[Link]) -> list[Link]:
            return [(*link[:2], float(rate(link[2])), *link[3:]) for link in links]

        return Interconnect(
            self.names, topology=self.topology, shape=self.shape, rate=rate(self.rate),
            latency=self.latency, duplex=self.duplex, ports=self.ports,
            routers=() if self.topology == "nodes" else self.routers,
            links=changed(self.links), one_way_links=changed(self.one_way_links),
        )  # fmt: skip

    def collect_mistakes(self, mistakes: Mistakes) -> None:
        """Note everything that is wrong with this network."""
        before = len(mistakes.found)
        mistakes.extend(self._mistakes.found)
        mistakes.number("network.latency", self.latency, LATENCY)
        check_nodes(self, mistakes)
        if len(mistakes.found) == before:
            check_links(self, mistakes)


def _rates(rate: ArrayLike, mistakes: Mistakes) -> Floats:
    try:
        return frozen(np.array(rate, dtype=np.float64))
    except (TypeError, ValueError):
        mistakes.add("network.rate", f"{quoted(rate)} is not a number or a table of numbers")
        return frozen(np.array(1.0))
