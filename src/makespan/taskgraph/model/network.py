"""Machines and the links between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.cached import cached_property
from makespan.core.inputs.rules import Mistakes, Rule, quoted, whole
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.names import index_by_name
from makespan.core.network.checks import check_links, check_nodes, known_ends
from makespan.core.network.interconnect import Interconnect, Link
from makespan.core.network.routing import Route, Routing, is_uniform
from makespan.core.numeric.arrays import Floats, Integers, frozen

SPEED = Rule("a speed is above 0 units of work per second", strictly=True)
SETUP = Rule("a set-up takes 0 or more seconds")
PRICE = Rule("a price is 0 or more")
DELAY = Rule("a delay is 0 or more seconds")
CORES = whole("cores are", high=2**53 - 1)  # floats skip whole numbers above


class Network(Interconnect):
    """Machines with speeds and set-up times, and the links between them.

    Parameters
    ----------
    speeds
        Units of work per second of each machine, above 0; or a mapping from the machines' names.
    names
        ``M1``, ``M2``, … if omitted.
    task_setup, message_setup
        Seconds to start a task on a machine, and to send a message from it over one hop; one
        number for all, or one per machine. Routers send without set-up.
    cores
        Tasks that a machine executes at a time; they exchange data for free.
    price, start_price
        What a second of execution costs on a machine, and what it costs once if it executes
        anything; one number for all, or one per machine.
    topology
        With ``shape``, ``rate``, ``duplex``, ``routers``, ``links`` and ``one_way_links`` as in
        :class:`makespan.Interconnect`; a link has a rate, and no latency.
    delays
        Seconds by (from, to) that data of this pair of machines take after the last hop.

    Notes
    -----
    Mistakes are reported by the :class:`makespan.TaskGraph` that uses the network, all together.

    Source: PB165, "Úlohy a komunikace", "Heuristiky mapování".

    >>> network = Network.complete(speeds=[1.0, 2.0], rate=4.0)
    >>> float(network.routing.seconds_per_unit[0, 1])
    0.25
    """

    link_lengths: ClassVar[tuple[int, ...]] = (3,)

    def __init__(
        self,
        speeds: ArrayLike | Mapping[str, float],
        *,
        names: Sequence[str] | None = None,
        task_setup: ArrayLike = 0.0,
        message_setup: ArrayLike = 0.0,
        cores: ArrayLike = 1,
        price: ArrayLike = 0.0,
        start_price: ArrayLike = 0.0,
        topology: str = "complete",
        shape: Sequence[int] = (),
        rate: ArrayLike = 1.0,
        duplex: bool = True,
        routers: Sequence[str] = (),
        links: Sequence[Link] = (),
        one_way_links: Sequence[Link] = (),
        delays: Mapping[tuple[str, str], float] | None = None,
    ) -> None:
        found = Mistakes()
        if isinstance(speeds, Mapping):
            names, speeds = (list(speeds) if names is None else names), list(speeds.values())
        self.speed: Floats = _column("speed", speeds, None, found)
        super().__init__(
            len(self.speed) if names is None else names, topology=topology, shape=shape, rate=rate,
            duplex=duplex, routers=routers, links=links, one_way_links=one_way_links,
        )  # fmt: skip
        self._mistakes.extend(found.found)
        count = len(self.speed)
        self.task_setup: Floats = _column("task_setup", task_setup, count, self._mistakes)
        self.message_setup: Floats = _column("message_setup", message_setup, count, self._mistakes)
        self.price: Floats = _column("price", price, count, self._mistakes)
        self.start_price: Floats = _column("start_price", start_price, count, self._mistakes)
        self.cores: Integers = _cores(cores, count, self._mistakes)
        self.delays: dict[tuple[str, str], float] = dict(delays or {})

    @classmethod
    def complete(
        cls, *, speeds: ArrayLike | Mapping[str, float], rate: ArrayLike = 1.0, **others: Any
    ) -> Network:
        """Build a network in which every machine has a link to every other.

        Parameters
        ----------
        speeds
            Units of work per second of each machine.
        rate
            Units of data per second; a number, or a table from row to column.
        **others
            As in :class:`Network`.
        """
        return cls(speeds, rate=rate, topology="complete", **others)

    def __len__(self) -> int:
        return len(self.speed)

    @property
    def _parts(self) -> tuple[Any, ...]:
        return (
            *super()._parts, self.speed, self.task_setup, self.message_setup, self.cores,
            self.price, self.start_price, self.delays,
        )  # fmt: skip

    @cached_property
    def routing(self) -> Routing:
        """Routes between all nodes and what they cost."""
        setup = np.zeros(len(self.nodes))
        setup[: len(self)] = self.message_setup
        delay = np.zeros((len(self), len(self)))
        position = index_by_name(self.names)
        for (a, b), seconds in self.delays.items():
            delay[position[a], position[b]] = seconds
        return Routing(self.arcs, setup, delay)

    @property
    def is_priced(self) -> bool:
        """Whether any machine costs anything."""
        return bool(self.price.any() or self.start_price.any())

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether all machines are linked alike: each to each, or none to any but to routers."""
        count, arcs, routing = len(self), self.arcs, self.routing
        own, out, into = arcs[:count, :count], arcs[:count, count:], arcs[count:, :count]
        direct = bool(routing.hops[:count, :count].max() <= 1) and is_uniform(own)
        by_routers = not own.any() and bool((out == out[0]).all() and (into.T[0] == into.T).all())
        alike = is_uniform(routing.delay) and bool(
            (self.message_setup == self.message_setup[0]).all()
        )
        return alike and (direct or by_routers)

    def routing_table(self, machine: str) -> tuple[Route, ...]:
        """Return hops and preferred link from ``machine`` to every other machine.

        >>> for route in Network([1, 1, 1, 1], topology="ring").routing_table("M1"):
        ...     print(route)
        to M2: 1 hop by M2
        to M3: 2 hops by M2
        to M4: 1 hop by M4
        """
        position = index_by_name(self.names)
        if machine not in position:
            raise KeyError(f"there is no machine {machine!r}{did_you_mean(machine, position)}")
        return self.routing.table(position[machine], self.nodes, len(self))

    def collect_mistakes(self, mistakes: Mistakes) -> None:
        """Note everything that is wrong with this network."""
        mistakes.extend(self._mistakes.found)
        before = len(mistakes.found)
        _numbers(self, mistakes)
        check_nodes(self, mistakes)
        if len(mistakes.found) == before:
            check_links(self, mistakes)
            _delays(self, mistakes)
        if len(mistakes.found) == before:
            _reach(self, mistakes)


def _column(name: str, values: ArrayLike, count: int | None, mistakes: Mistakes) -> Floats:
    try:
        array = np.array(values, dtype=None if np.size(values) else np.float64)
        if array.dtype.kind not in "iuf" or array.ndim > 1:
            raise TypeError("not numbers")
    except (TypeError, ValueError):
        mistakes.add(f"network.{name}", f"{quoted(values)} is not a number or a list of numbers")
        array = np.ones(count or 0)
    array = array.astype(np.float64)
    if count is None:
        return frozen(np.atleast_1d(array))
    if array.ndim and len(array) != count:
        mistakes.add(f"network.{name}", f"has {len(array)} entries for {count} machines")
        array = np.ones(count)
    return frozen(np.array(np.broadcast_to(array, (count,))))


def _cores(values: ArrayLike, count: int, mistakes: Mistakes) -> Integers:
    column = _column("cores", values, count, mistakes)
    before = len(mistakes.found)
    mistakes.column("network.machines[{}].cores".format, column, CORES)
    return frozen((column if len(mistakes.found) == before else np.ones(count)).astype(np.int64))


def _numbers(network: Network, mistakes: Mistakes) -> None:
    for name, rule in (
        ("speed", SPEED), ("task_setup", SETUP), ("message_setup", SETUP), ("price", PRICE),
        ("start_price", PRICE),
    ):  # fmt: skip
        mistakes.column(
            lambda machine, name=name: f"network.machines[{machine}].{name}",  # type: ignore[misc]
            getattr(network, name),
            rule,
        )


def _delays(network: Network, mistakes: Mistakes) -> None:
    known = set(network.names)
    for index, (pair, seconds) in enumerate(network.delays.items()):
        place = f"network.delays[{index}]"
        mistakes.number(f"{place}.seconds", seconds, DELAY)
        if not isinstance(pair, tuple) or len(pair) != 2:
            mistakes.add(place, f"{quoted(pair)} is not a pair of machines")
        else:
            known_ends(place, pair, network.names, known, mistakes)


def _reach(network: Network, mistakes: Mistakes) -> None:
    """Note a pair of machines without a route."""
    count = len(network)
    missing = np.argwhere(network.routing.hops[:count, :count] < 0)
    if len(missing):
        a, b = missing[0].tolist()
        mistakes.add(
            "network.links",
            f"there is no route from {network.nodes[a]!r} to {network.nodes[b]!r}; "
            "every machine reaches every other",
        )
