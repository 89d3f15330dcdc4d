"""Topologies: which nodes of a network are neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

Pairs = Iterator[tuple[int, int]]

TOPOLOGIES = ("complete", "bus", "star", "ring", "mesh", "torus", "hypercube", "tree", "links")
SHAPED = ("mesh", "torus", "tree")
"""Topologies for which ``shape`` means something."""


def neighbours(topology: str, machines: int, shape: tuple[int, ...], routers: int) -> Pairs:
    """Yield the pairs of neighbouring nodes, each once, the lower index first where possible.

    Machines are counted before routers. A star's centre is its router, or else machine 0.
    """
    return _PAIRS[topology](machines, shape, routers)


def shape_fault(topology: str, machines: int, shape: tuple[int, ...]) -> str | None:
    """Say what is wrong with the shape of a topology for this many machines, or None."""
    if topology in ("mesh", "torus") and prod(shape) != machines:
        return f"{list(shape)} holds {prod(shape)} machines, but there are {machines}"
    if topology == "tree" and len(shape) > 1:
        return f"{list(shape)} is not allowed; a tree's shape is its number of children, [2]"
    if topology == "hypercube" and machines & (machines - 1):
        return f"a hypercube has 1, 2, 4, 8, … machines, but there are {machines}"
    return None


def _complete(machines: int, _shape: tuple[int, ...], _routers: int) -> Pairs:
    return ((a, b) for a in range(machines) for b in range(a + 1, machines))


def _star(machines: int, _shape: tuple[int, ...], routers: int) -> Pairs:
    if routers:
        return ((machine, machines) for machine in range(machines))
    return ((0, machine) for machine in range(1, machines))


def _ring(machines: int, _shape: tuple[int, ...], _routers: int) -> Pairs:
    yield from ((machine, machine + 1) for machine in range(machines - 1))
    if machines > 2:
        yield (0, machines - 1)


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


def _mesh(machines: int, shape: tuple[int, ...], _routers: int) -> Pairs:
    return _grid(machines, shape, closed=False)


def _torus(machines: int, shape: tuple[int, ...], _routers: int) -> Pairs:
    return _grid(machines, shape, closed=True)


def _hypercube(machines: int, _shape: tuple[int, ...], _routers: int) -> Pairs:
    bits = max(machines - 1, 0).bit_length()
    return (
        (node, node | 1 << bit)
        for node in range(machines)
        for bit in range(bits)
        if not node >> bit & 1
    )


def _tree(machines: int, shape: tuple[int, ...], _routers: int) -> Pairs:
    children = shape[0] if shape else 2
    return (((node - 1) // children, node) for node in range(1, machines))


def _links(_machines: int, _shape: tuple[int, ...], _routers: int) -> Pairs:
    return iter(())


_PAIRS: dict[str, Callable[[int, tuple[int, ...], int], Pairs]] = {
    "complete": _complete,
    "bus": _complete,
    "star": _star,
    "ring": _ring,
    "mesh": _mesh,
    "torus": _torus,
    "hypercube": _hypercube,
    "tree": _tree,
    "links": _links,
}
