"""Topologies: which nodes of a network are neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise, repeat
from math import prod

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
SHAPED = ("mesh", "torus", "tree", "nodes")
"""Topologies for which ``shape`` means something."""


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
