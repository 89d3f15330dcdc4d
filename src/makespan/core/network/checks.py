"""What can be wrong with a network, whatever it connects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from makespan.core.inputs.mistakes import Mistakes, quoted
from makespan.core.inputs.rules import Rule, whole
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.names import Numbered
from makespan.core.network.topology import SHAPED, TOPOLOGIES, cards, neighbours, shape_fault
from makespan.core.numeric.arrays import Floats

EXTENT = whole("an extent is")
RATE = Rule("a rate is above 0 units of data per second", strictly=True, infinite=True)
RATE_OR_NONE = replace(RATE, strictly=False)  # from a machine to itself, which needs none
LATENCY = Rule("a latency is 0 or more seconds")
PORTS = ("machines", "links")
SUGGESTED_FROM = 200


class Stated(Protocol):
    """The fields of an :class:`~makespan.core.network.interconnect.Interconnect`, as given."""

    names: Sequence[str]
    topology: str
    shape: tuple[int, ...]
    rate: Floats
    duplex: bool
    ports: str
    routers: tuple[str, ...]
    links: tuple[tuple[Any, ...], ...]
    one_way_links: tuple[tuple[Any, ...], ...]

    def __len__(self) -> int: ...

    @property
    def nodes(self) -> Sequence[str]: ...

    @property
    def link_lengths(self) -> tuple[int, ...]: ...


def check_nodes(network: Stated, mistakes: Mistakes) -> None:
    """Note what is wrong with the machines, the routers and the topology."""
    if not len(network):
        mistakes.add("network.machines", "is empty; a network has at least one machine")
    _names(network, mistakes)
    _topology(network, mistakes)


def check_links(network: Stated, mistakes: Mistakes) -> None:
    """Note what is wrong with the rates and the links of nodes that are right."""
    _rates(network, mistakes)
    _links(network, mistakes)


def _names(network: Stated, mistakes: Mistakes) -> None:
    if len(network.names) != len(network):
        count = len(network.names)
        mistakes.add("network.names", f"there are {count} names for {len(network)} machines")
        return
    if isinstance(network.names, Numbered) and not network.routers:
        return
    count = len(network)

    def place(node: int) -> str:
        machine = f"network.machines[{node}].name"
        return machine if node < count else f"network.routers[{node - count}]"

    mistakes.names(place, network.nodes)


def _topology(network: Stated, mistakes: Mistakes) -> None:
    topology, shape = network.topology, network.shape
    if topology not in TOPOLOGIES:
        hint = did_you_mean(topology, TOPOLOGIES)
        mistakes.add("network.topology", f"{quoted(topology)} is not a topology{hint}")
        return
    mistakes.flag("network.duplex", network.duplex)
    mistakes.choice("network.ports", network.ports, PORTS)
    if len(EXTENT.wrong(shape)):
        mistakes.column(lambda index: f"network.shape[{index}]", shape, EXTENT)
    elif shape and topology not in SHAPED:
        mistakes.add("network.shape", f"means nothing for {topology!r}; leave it out")
    elif topology == "nodes" and not shape:
        mistakes.add("network.shape", "is missing; 2 nodes of 4 machines are [2, 4]")
    elif topology in ("mesh", "torus") and not shape:
        mistakes.add("network.shape", f"is missing; a {topology} of 6 machines may be [2, 3]")
    else:
        fault = shape_fault(topology, len(network), shape)
        if fault is not None:
            mistakes.add("network.shape", fault)
    if topology == "nodes" and len(shape) == 2 and network.routers != cards(shape):
        mistakes.add("network.routers", "can't be given for 'nodes'; they are the cards")
    elif network.routers and topology not in ("links", "star", "nodes"):
        mistakes.add("network.routers", f"stand in no {topology!r}; they need 'links' or 'star'")
    elif topology == "star" and len(network.routers) > 1:
        mistakes.add("network.routers", "a star has one router at most, its centre")


def _rates(network: Stated, mistakes: Mistakes) -> None:
    rate, count = network.rate, len(network)
    if rate.ndim == 0:
        mistakes.number("network.rate", float(rate), RATE)
    elif rate.shape != (count, count):
        found = " × ".join(map(str, rate.shape))
        mistakes.add("network.rate", f"is a table of {found} numbers for {count} machines")
    elif network.topology not in ("complete", "bus"):
        mistakes.add("network.rate", f"a table needs 'complete' or 'bus', not {network.topology!r}")
    else:
        needed = np.where(np.eye(count, dtype=bool) & (rate == 0), 1.0, rate).ravel()
        mistakes.column(lambda at: f"network.rate[{at // count}][{at % count}]", needed, RATE)


def _links(network: Stated, mistakes: Mistakes) -> None:
    known = set(network.nodes)
    existing = None
    if network.topology not in ("links", "complete", "bus"):
        pairs = neighbours(network.topology, len(network), network.shape, len(network.routers))
        nodes = network.nodes
        existing = {(nodes[a], nodes[b]) for a, b in pairs}
        existing |= {(b, a) for a, b in existing}
    seen: dict[tuple[Any, Any], int] = {}
    for index, link in enumerate((*network.links, *network.one_way_links)):
        place, two_way = f"network.links[{index}]", index < len(network.links)
        if len(link) not in network.link_lengths:
            longer = " or (a, b, rate, latency)" * (4 in network.link_lengths)
            mistakes.add(place, f"{quoted(link)} is not a link; it is (a, b, rate){longer}")
            continue
        a, b, rate = link[:3]
        mistakes.number(f"{place}.rate", rate, RATE)
        for latency in link[3:]:
            mistakes.number(f"{place}.latency", latency, LATENCY)
        if not known_ends(place, (a, b), network.nodes, known, mistakes):
            continue
        if existing is not None and (a, b) not in existing:
            mistakes.add(place, f"a {network.topology} has no link between {a!r} and {b!r}")
        for pair in ((a, b), (b, a)) if two_way else ((a, b),):
            if pair in seen:
                mistakes.add(place, f"from {pair[0]!r} to {pair[1]!r} goes links[{seen[pair]}] too")
                break
            seen[pair] = index


def known_ends(
    place: str,
    ends: tuple[Any, ...],
    names: Sequence[str],
    known: set[str],
    mistakes: Mistakes,
) -> bool:
    unknown = [end for end in ends if end not in known]
    for end in unknown:
        hint = did_you_mean(end, list(names[:SUGGESTED_FROM]))
        mistakes.add(place, f"there is no node {quoted(end)}{hint}")
    if not unknown and ends[0] == ends[1]:
        mistakes.add(place, f"leads from {ends[0]!r} to itself")
        return False
    return not unknown
