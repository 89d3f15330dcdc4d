"""Boxes in given places, spread out; straight lines between them, bent where a box stands."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.core.picture import Edges

BULGES = (0.0, 0.12, -0.12, 0.25, -0.25, 0.4, -0.4)
"""How far a line is bent, as a share of its length, in the order of trial."""
PARTS = 96
"""Points of a line that are looked at."""
CLEAR = 3.0
APART = 0.05
"""The bend of two lines between the same two boxes."""


def spread_out(centres: Floats, sizes: Floats, gap: float, between: float) -> Floats:
    """Return the centres, scaled so that no two boxes are nearer than ``gap``.

    ``between`` is what is left for a line between neighbours in the same row or column.
    Complexity: O(n²).
    """
    count = len(centres)
    if count < 2:
        return centres
    one, other = np.triu_indices(count, 1)
    away = np.abs(centres[one] - centres[other])
    need = (sizes[one] + sizes[other]) / 2 + max(gap, between)
    with np.errstate(divide="ignore"):
        scale = np.min(need / np.maximum(away, 1e-12), axis=1)
    return centres * float(scale.max())


def crossing_free(edges: Edges, boxes: Floats) -> list[Floats]:
    """Return the way of each line: straight, or bent as little as no box is crossed."""
    pairs = list(zip(edges.source.tolist(), edges.target.tolist(), strict=True))
    both = set(pairs)
    ways = []
    for start, end in pairs:
        bulges = BULGES if (end, start) not in both else tuple(APART + b for b in BULGES if b >= 0)
        others = np.delete(boxes, [start, end], axis=0)
        tried = [_bent(boxes[start], boxes[end], bulge) for bulge in bulges]
        ways.append(next((way for way in tried if not _meets(way, others)), tried[0]))
    return ways


def _bent(start: Floats, end: Floats, bulge: float) -> Floats:
    """Return a line between two boxes, from edge to edge, bent to its left."""
    a, b = start[:2] + start[2:] / 2, end[:2] + end[2:] / 2
    middle = (a + b) / 2 + bulge * np.array([(b - a)[1], -(b - a)[0]])
    part = np.linspace(0.0, 1.0, PARTS)[:, None]
    curve = (1 - part) ** 2 * a + 2 * part * (1 - part) * middle + part**2 * b
    outside = np.flatnonzero(~(_within(curve, start) | _within(curve, end)))
    if not len(outside):
        return curve[[0, -1]]
    first, last = max(int(outside[0]), 1), min(int(outside[-1]), PARTS - 2)
    leaves = _on_border(curve[first - 1], curve[first], start)
    enters = _on_border(curve[last + 1], curve[last], end)
    between = curve[first : last + 1] if bulge else curve[:0]
    return np.concatenate([[leaves], between, [enters]])


def _within(points: Floats, box: Floats) -> np.ndarray:
    return np.asarray(((points > box[:2]) & (points < box[:2] + box[2:])).all(axis=1))


def _on_border(inner: Floats, outer: Floats, box: Floats) -> Floats:
    """Return the point of the border between a point in the box and one outside of it."""
    low, high = inner, outer
    for _ in range(20):
        middle = (low + high) / 2
        if _within(middle[None], box)[0]:
            low = middle
        else:
            high = middle
    return high


def _meets(way: Floats, boxes: Floats) -> bool:
    """Whether a line passes through a box."""
    part = np.linspace(0.0, 1.0, PARTS)[:, None]
    points = way if len(way) > 2 else way[0] * (1 - part) + way[1] * part
    low, high = boxes[:, :2] - CLEAR, boxes[:, :2] + boxes[:, 2:] + CLEAR
    inside = (points[:, None] > low) & (points[:, None] < high)
    return bool(inside.all(axis=2).any())
