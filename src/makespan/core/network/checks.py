"""What can be wrong with a network, whatever it connects."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, repeat
from math import prod
from typing import Any, Protocol

import numpy as np

from makespan.core.inputs.rules import Mistakes, Rule, quoted, whole
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.names import Numbered
from makespan.core.numeric.arrays import Floats

Pairs = Iterator[tuple[int, int]]

TOPOLOGIES = (
    "complete",
    "bus",
    "star",
    "ring",
    "mesh",
    "torus",
    "hypercube",
    "tree",
    "nodes",
    "links",
)
SHAPED = ("mesh", "torus", "tree", "nodes")  # topologies for which ``shape`` means something


def neighbours(topology: str, machines: int, shape: tuple[int, ...], routers: int) -> Pairs:
    """Yield the pairs of neighbouring nodes, each once, the lower index first where possible.

    Machines are counted before routers. A star's centre is its router, or else machine 0. Nodes
    are complete in themselves, with a router each, the card, and the last router between cards.
    """
    every = range(machines)
    match topology:
        case "complete" | "bus":
            yield from combinations(every, 2)
        case "star":
            yield from zip(every, repeat(machines)) if routers else zip(repeat(0), every[1:])
        case "ring":
            yield from pairwise(every)
            if machines > 2:
                yield (0, machines - 1)
        case "mesh" | "torus":
            yield from _grid(machines, shape, closed=topology == "torus")
        case "hypercube":
            bits = [1 << bit for bit in range(max(machines - 1, 0).bit_length())]
            yield from ((node, node | bit) for node in every for bit in bits if not node & bit)
        case "tree":
            children = shape[0] if shape else 2
            yield from (((node - 1) // children, node) for node in every[1:])
        case "nodes":
            for node in range(shape[0]):
                own = range(node * shape[1], (node + 1) * shape[1])
                yield from combinations(own, 2)
                yield from zip(own, repeat(machines + node))
                yield (machines + node, machines + shape[0])


def cards(shape: tuple[int, ...]) -> tuple[str, ...]:
    """Return the names of the routers of so many nodes.

    >>> cards((2, 8))
    ('card 1', 'card 2', 'switch')
    """
    return (*(f"card {node + 1}" for node in range(shape[0])), "switch")


def shape_fault(topology: str, machines: int, shape: tuple[int, ...]) -> str | None:
    """Say what is wrong with the shape of a topology for this many machines, or None."""
    if topology == "nodes" and len(shape) != 2:
        return f"{list(shape)} is not allowed; it is the nodes and the machines of each, [2, 4]"
    if topology in ("mesh", "torus", "nodes") and prod(shape) != machines:
        return f"{list(shape)} holds {prod(shape)} machines, but there are {machines}"
    if topology == "tree" and len(shape) > 1:
        return f"{list(shape)} is not allowed; a tree's shape is its number of children, [2]"
    if topology == "hypercube" and machines & (machines - 1):
        return f"a hypercube has 1, 2, 4, 8, … machines, but there are {machines}"
    return None


def _grid(machines: int, shape: tuple[int, ...], *, closed: bool) -> Pairs:
    """Yield the neighbours in a grid, numbered with the last coordinate fastest."""
    stride = machines
    for extent in shape:
        stride //= extent
        for node in range(machines):
            place = node // stride % extent
            if place + 1 < extent:
                yield (node, node + stride)
            elif closed and extent > 2:
                yield (node - (extent - 1) * stride, node)


def squarish(machines: int) -> tuple[int, int]:
    """Return the two extents whose product is ``machines`` and that differ least.

    >>> squarish(12), squarish(7)
    ((3, 4), (1, 7))
    """
    rows = next(rows for rows in range(int(machines**0.5), 0, -1) if machines % rows == 0)
    return rows, machines // rows


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
    place: str, ends: tuple[Any, ...], names: Sequence[str], known: set[str], mistakes: Mistakes
) -> bool:
    unknown = [end for end in ends if end not in known]
    for end in unknown:
        hint = did_you_mean(end, list(names[:SUGGESTED_FROM]))
        mistakes.add(place, f"there is no node {quoted(end)}{hint}")
    if not unknown and ends[0] == ends[1]:
        mistakes.add(place, f"leads from {ends[0]!r} to itself")
        return False
    return not unknown
