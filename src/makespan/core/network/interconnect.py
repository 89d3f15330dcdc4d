"""Machines, routers, and the links between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.cached import cached_property
from makespan.core.inputs.mistakes import Mistakes, quoted
from makespan.core.inputs.rules import whole
from makespan.core.names import Numbered, index_by_name
from makespan.core.network.checks import LATENCY, cards, check_links, check_nodes, neighbours
from makespan.core.network.ways import Ways, ways_of
from makespan.core.numeric.arrays import Floats, Integers, frozen
from makespan.core.system.memory import claim

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
        return type(self) is type(other) and all(map(_same, self._parts, other._parts))

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


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)


def _rates(rate: ArrayLike, mistakes: Mistakes) -> Floats:
    try:
        return frozen(np.array(rate, dtype=np.float64))
    except (TypeError, ValueError):
        mistakes.add("network.rate", f"{quoted(rate)} is not a number or a table of numbers")
        return frozen(np.array(1.0))
