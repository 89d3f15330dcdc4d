"""Boxes in layers: few crossings, long edges led past the boxes of other layers.

Source: Sugiyama, Tagawa and Toda 1981. The orders of the layers come from igraph; the places in
them from here, where the boxes' sizes are known.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers

MOST_BENDS = 8000  # places where long edges pass layers; of more, the longest are drawn straight
SWEEPS = 12
STIFF = 6.0  # how much more the bends of one edge keep in line than boxes do


def layers_of(count: int, source: Integers, target: Integers) -> Integers:
    """Return the layer of each box: 0, or one above the highest that leads to it.

    Edges of a circle count nothing. Complexity: O(boxes + edges).

    >>> layers_of(3, np.array([0, 0, 1]), np.array([1, 2, 2])).tolist()
    [0, 1, 2]
    """
    below: list[list[int]] = [[] for _ in range(count)]
    waiting = np.bincount(target, minlength=count).tolist()
    for start, end in zip(source.tolist(), target.tolist(), strict=True):
        below[start].append(end)
    layer = [0] * count
    ready = [box for box in range(count) if not waiting[box]]
    for box in ready:
        for end in below[box]:
            layer[end] = max(layer[end], layer[box] + 1)
            waiting[end] -= 1
            if not waiting[end]:
                ready.append(end)
    return np.array(layer, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """Where each box stands along its layer, and where each edge passes the layers between."""

    along: Floats
    bends: Sequence[Sequence[float]]


def placed(
    layer: Integers, source: Integers, target: Integers, *, size: Floats, gap: float
) -> Placement:
    """Place boxes along their layers, without overlaps.

    Edges that do not lead to a higher layer are not considered. ``size`` is the extent of each box
    along its layer; ``gap`` is left free between two boxes, half of it between bends.
    """
    chains, levels = _chains(layer, source, target)
    extent = np.zeros(len(levels))
    extent[: len(size)] = size
    free = np.full(len(levels), gap / 2)
    free[len(size) :] = gap / 4
    links = [pair for chain in chains.values() for pair in pairwise(chain)]
    along = _straightened(levels, _orders(levels, links), links, extent / 2 + free, len(size))
    bends: list[Sequence[float]] = [()] * len(source)
    for edge, chain in chains.items():
        bends[edge] = along[chain[1:-1]].tolist()
    return Placement(along[: len(size)], bends)


def _chains(
    layer: Integers, source: Integers, target: Integers
) -> tuple[dict[int, list[int]], list[int]]:
    """Return the boxes and bends that each edge passes, and the layers of them all."""
    levels = layer.tolist()
    span = layer[target] - layer[source]
    chains: dict[int, list[int]] = {}
    for edge in np.argsort(span, kind="stable").tolist():
        start, end = int(source[edge]), int(target[edge])
        between = range(levels[start] + 1, levels[end])
        if span[edge] < 1 or len(levels) - len(layer) + len(between) > MOST_BENDS:
            continue
        chains[edge] = [start, *range(len(levels), len(levels) + len(between)), end]
        levels += between
    return chains, levels


def _orders(levels: Sequence[int], links: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the boxes and bends of each layer in an order with few crossings."""
    from igraph import Graph

    graph = Graph(n=len(levels), edges=links, directed=True)
    first = [place[0] for place in graph.layout_sugiyama(layers=levels)]
    order: list[list[int]] = [[] for _ in range(max(levels, default=-1) + 1)]
    for vertex in sorted(range(len(levels)), key=lambda vertex: (first[vertex], vertex)):
        order[levels[vertex]].append(vertex)
    return [_alike_in_turn(members, graph) for members in order]


def _alike_in_turn(members: list[int], graph: Any) -> list[int]:
    """Put those that have the same neighbours, whose order is all one, in the order of indices."""
    alike: defaultdict[tuple[frozenset[int], frozenset[int]], list[int]] = defaultdict(list)
    of = []
    for vertex in members:
        key = frozenset(graph.predecessors(vertex)), frozenset(graph.successors(vertex))
        alike[key].append(vertex)
        of.append(key)
    turns = {key: iter(sorted(same)) for key, same in alike.items()}
    return [next(turns[key]) for key in of]


def _straightened(
    levels: Sequence[int],
    order: Sequence[Sequence[int]],
    links: Sequence[tuple[int, int]],
    room: Floats,
    boxes: int,
) -> Floats:
    """Draw the boxes of each layer to the mean of their neighbours, as near as room allows."""
    above: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
    below: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
    for one, other in links:
        weight = STIFF if one >= boxes and other >= boxes else 1.0
        below[one].append((other, weight))
        above[other].append((one, weight))
    along = np.zeros(len(levels))
    for members in order:
        along[members] = _apart(np.zeros(len(members)), room[list(members)])
    for sweep in range(SWEEPS + 1):
        sides = (above, below)[sweep % 2 : sweep % 2 + 1] if sweep < SWEEPS else (above, below)
        for members in order if sweep % 2 == 0 else reversed(order):
            wanted = along[members]
            for place, vertex in enumerate(members):
                near = [each for side in sides for each in side[vertex]]
                if near:
                    total = sum(weight for _, weight in near)
                    wanted[place] = sum(weight * along[each] for each, weight in near) / total
            along[members] = _apart(wanted, room[list(members)])
    return along


def _apart(wanted: Floats, room: Floats) -> Floats:
    """Return the places nearest to those wanted (least squares) that keep order and room.

    Source: pool adjacent violators (Ayer et al. 1955).

    >>> _apart(np.array([0.0, 0.0, 9.0]), np.ones(3)).tolist()
    [-1.0, 1.0, 9.0]
    """
    if not len(wanted):
        return wanted
    offset = np.concatenate([[0.0], np.cumsum(room[:-1] + room[1:])])
    means: list[float] = []
    counts: list[int] = []
    for value in (wanted - offset).tolist():
        mean, count = value, 1
        while means and means[-1] > mean:
            before = counts.pop()
            mean = (means.pop() * before + mean * count) / (before + count)
            count += before
        means.append(mean)
        counts.append(count)
    return np.asarray(np.repeat(means, counts) + offset, dtype=np.float64)
