"""Diagram → places: boxes, the ways of the lines, and labels, for any backend.

Everything is in units of the backend (pixels, points), from the left and from the top. A label on a
line covers no box, no other label, and as few other lines as can be.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.picture import Diagram, Edges
from makespan.drawing.diagram.layers import layers_of, placed
from makespan.drawing.text import elided, elided_apart, text_width

PLACES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82)
"""How far along its line a label may stand, in the order of trial."""
SPACING = 2.0


@dataclass(frozen=True, slots=True)
class EdgeLabel:
    """A text in the middle of a free place, which it fills."""

    edge: int
    text: str
    x: float
    y: float
    width: float
    height: float


def labelled(
    texts: Sequence[str], ways: Sequence[Floats], boxes: Floats, size: float
) -> tuple[list[EdgeLabel], list[int]]:
    """Return the labels in their places, and the lines for whose label there is none.

    Lines with the fewest places to choose from are labelled first: the short ones. Complexity:
    O(e²) for e lines, vectorised.
    """
    named = [edge for edge, text in enumerate(texts) if text]
    if not named:
        return [], []
    segments = np.concatenate([np.hstack([way[:-1], way[1:]]) for way in ways])
    low = np.minimum(segments[:, :2], segments[:, 2:])
    high = np.maximum(segments[:, :2], segments[:, 2:])
    owner = np.repeat(np.arange(len(ways)), [len(way) - 1 for way in ways])
    length = {edge: _lengths(ways[edge]).sum() for edge in named}
    taken = np.column_stack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]])
    done: list[EdgeLabel] = []
    missing = []
    for edge in sorted(named, key=lambda edge: (length[edge], edge)):
        width, height = text_width(texts[edge], size) + 2.0, size + 2.0
        best, fewest = None, len(segments) + 1
        for part in PLACES:
            x, y = _point(ways[edge], part)
            corners = np.array([x - width / 2, y - height / 2, x + width / 2, y + height / 2])
            if _overlap(corners, taken):
                continue
            near = np.flatnonzero(
                (low[:, 0] <= corners[2])
                & (high[:, 0] >= corners[0])
                & (low[:, 1] <= corners[3])
                & (high[:, 1] >= corners[1])
            )
            crossed = _crossed(corners, segments[near[owner[near] != edge]])
            if crossed < fewest:
                best, fewest = (x, y, corners), crossed
            if not crossed:
                break
        if best is None:
            missing.append(edge)
            continue
        x, y, corners = best
        taken = np.concatenate([taken, corners[None]])
        done.append(EdgeLabel(edge, texts[edge], x, y, width, height))
    return done, missing


def _lengths(way: Floats) -> Floats:
    return np.asarray(np.hypot(*np.diff(way, axis=0).T))


def _point(way: Floats, part: float) -> tuple[float, float]:
    """Return the point at a share of the length of a line."""
    at = np.concatenate([[0.0], np.cumsum(_lengths(way))])
    x, y = (float(np.interp(part * at[-1], at, column)) for column in way.T)
    return x, y


def _overlap(corners: Floats, taken: Floats) -> bool:
    return bool(
        (
            (corners[0] < taken[:, 2] + SPACING)
            & (taken[:, 0] < corners[2] + SPACING)
            & (corners[1] < taken[:, 3] + SPACING)
            & (taken[:, 1] < corners[3] + SPACING)
        ).any()
    )


def _crossed(corners: Floats, segments: Floats) -> int:
    """Return how many segments come into a rectangle (clipping by Liang and Barsky 1984)."""
    if not len(segments):
        return 0
    start, step = segments[:, :2], segments[:, 2:] - segments[:, :2]
    with np.errstate(divide="ignore", invalid="ignore"):
        low = (corners[:2] - start) / step
        high = (corners[2:] - start) / step
    enter, leave = np.fmin(low, high), np.fmax(low, high)
    still = step == 0
    inside = (start >= corners[:2]) & (start <= corners[2:])
    enter = np.where(still, np.where(inside, -np.inf, np.inf), enter).max(axis=1)
    leave = np.where(still, np.where(inside, np.inf, -np.inf), leave).min(axis=1)
    return int(((enter <= leave) & (leave >= 0) & (enter <= 1)).sum())


BULGES = (0.0, 0.12, -0.12, 0.25, -0.25, 0.4, -0.4)
"""How far a line is bent, as a share of its length, in the order of trial."""
PARTS = 96  # points of a line that are looked at
CLEAR = 3.0
APART = 0.05  # the bend of two lines between the same two boxes


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
    return bool(((points[:, None] > low) & (points[:, None] < high)).all(axis=2).any())


SIZE, SMALL, LABEL = 11.0, 9.0, 9.0
BOLD = 1.13  # how much wider bold text is
WIDEST, NARROWEST = 120.0, 34.0
LOW, HIGH, BAR = 22.0, 34.0, 10.0
GAP, BETWEEN = 20.0, 38.0
LABEL_ROW, MOST_ROWS = 14.0, 8
PAGE, LONGEST = 1100.0, 1300.0
MOST_PORTS_APART = 10.0
STEEP, MOST_STEEP = 0.06, 90.0
"""How much further apart columns stand where they are high, so that lines are less steep."""
Way = Floats  # the points of a line, shape (points, 2), from the edge of one box to that of another


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """A diagram with everything in its place.

    ``boxes`` holds left, top, width and height of each box, ``ways`` the points of each line;
    ``unlabelled`` lines have a label for which there is no room.
    """

    diagram: Diagram
    boxes: Floats
    ways: Sequence[Way]
    width: float
    height: float
    labels: Sequence[EdgeLabel] = ()
    texts: Sequence[str] = ()
    notes: Sequence[str] = ()
    unlabelled: Sequence[int] = field(default_factory=tuple)


def lay_out(diagram: Diagram) -> Places:
    """Place everything in a diagram.

    Boxes with places stand there, as far apart as they need; others stand in layers, from the top
    or from the left, whichever is nearer to the shape of a page.
    """
    nodes = diagram.nodes
    bold = np.zeros(len(nodes), dtype=bool) if nodes.bold is None else nodes.bold
    wider = np.where(bold, BOLD, 1.0)
    texts = elided_apart(nodes.label, SIZE, WIDEST / BOLD if bold.any() else WIDEST)
    notes = [elided(note, SMALL, WIDEST) for note in nodes.note]
    sizes = _sizes(texts, notes, wider)
    if nodes.bar is not None:
        sizes[nodes.bar] = BAR
    if nodes.x is not None and nodes.y is not None:
        boxes, ways = _as_given(diagram, sizes)
    else:
        boxes, ways = _in_layers(diagram, sizes)
    labels, missing = labelled(diagram.edges.label, ways, boxes, LABEL)
    rooms = np.array([(x.x - x.width / 2, x.y - x.height / 2, x.width, x.height) for x in labels])
    corners = np.concatenate([boxes, rooms.reshape(-1, 4)])
    points = np.concatenate([corners[:, :2], corners[:, :2] + corners[:, 2:], *ways])
    low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else np.zeros((2, 2))
    boxes[:, :2] -= low
    ways = [way - low for way in ways]
    labels = [replace(x, x=x.x - float(low[0]), y=x.y - float(low[1])) for x in labels]
    return Places(
        diagram=diagram,
        boxes=boxes,
        ways=ways,
        width=float(high[0] - low[0]),
        height=float(high[1] - low[1]),
        labels=labels,
        texts=texts,
        notes=notes,
        unlabelled=missing,
    )


def _sizes(texts: Sequence[str], notes: Sequence[str], wider: Floats) -> Floats:
    """Return the width and height of each box; bold texts are ``wider`` by a factor."""
    sizes = np.empty((len(texts), 2))
    for index, text in enumerate(texts):
        note = notes[index] if len(notes) else ""
        widest = max(wider[index] * text_width(text, SIZE), text_width(note, SMALL))
        sizes[index] = max(NARROWEST, widest + 12.0), HIGH if note else LOW
    return sizes


def _in_layers(diagram: Diagram, sizes: Floats) -> tuple[Floats, list[Way]]:
    """Return boxes and lines in layers, from the top or from the left."""
    nodes, edges = diagram.nodes, diagram.edges
    if not len(nodes):
        return np.empty((0, 4)), []
    layer = nodes.layer
    if layer is None:
        layer = layers_of(len(nodes), edges.source, edges.target)
    layer = _split(layer, sizes)
    wide = np.bincount(layer, weights=sizes[:, 0] + GAP).max()
    across = _depths(layer, sizes[:, 0]).sum() + int(layer.max()) * BETWEEN
    down = _depths(layer, sizes[:, 1]).sum() + int(layer.max()) * BETWEEN
    high = np.bincount(layer, weights=sizes[:, 1] + GAP / 2).max()
    sideways = diagram.landscape or max(wide, down) > max(PAGE, across, high)
    size, depth = (sizes[:, 1], sizes[:, 0]) if sideways else (sizes[:, 0], sizes[:, 1])
    found = placed(layer, edges.source, edges.target, size=size, gap=GAP / 2 if sideways else GAP)
    along = found.along
    if nodes.bar is not None:
        size = _bars_over(nodes.bar, along, size, diagram)
        depth = np.where(nodes.bar, BAR, depth)
    thickness = _depths(layer, depth)
    first = _tops(layer, thickness, diagram, along, sideways=sideways)
    middle = (first + thickness / 2)[layer]
    depth = thickness[layer] if nodes.bar is None else np.where(nodes.bar, BAR, thickness[layer])
    ports = _ports(diagram, found.bends, along, size)
    bounds = np.column_stack([middle - depth / 2, middle + depth / 2])
    ways = []
    for edge, (start, end) in enumerate(
        zip(edges.source.tolist(), edges.target.tolist(), strict=True)
    ):
        upward = layer[end] < layer[start]
        points = [(ports[0][edge], bounds[start, 0 if upward else 1])]
        for step, place in enumerate(found.bends[edge], start=int(layer[start]) + 1):
            points += [(place, first[step]), (place, first[step] + thickness[step])]
        points.append((ports[1][edge], bounds[end, 1 if upward else 0]))
        ways.append(np.array(points))
    boxes = np.column_stack([along - size / 2, middle - depth / 2, size, depth])
    if sideways:
        boxes, ways = boxes[:, [1, 0, 3, 2]], [way[:, ::-1] for way in ways]
    return boxes, ways


def _split(layer: Integers, sizes: Floats) -> Integers:
    """Return the layers with those that are too wide, and too high, in parts one below another."""
    count = np.bincount(layer)
    extent = np.minimum(
        np.bincount(layer, weights=sizes[:, 0] + GAP),
        np.bincount(layer, weights=sizes[:, 1] + GAP / 2),
    )
    parts = np.ceil(extent / LONGEST).astype(np.int64)
    first = np.cumsum(parts) - parts
    order = np.argsort(layer, kind="stable")
    place = np.empty(len(layer), dtype=np.int64)
    place[order] = np.arange(len(layer)) - (np.cumsum(count) - count)[layer[order]]
    split: Integers = first[layer] + place * parts[layer] // count[layer]
    return split


def _depths(layer: Integers, depth: Floats) -> Floats:
    """Return the greatest depth in each layer."""
    most = np.zeros(int(layer.max()) + 1)
    np.maximum.at(most, layer, depth)
    return most


def _tops(
    layer: Integers, thickness: Floats, diagram: Diagram, along: Floats, *, sideways: bool
) -> Floats:
    """Return where each layer begins: labels between two layers have rows of their own."""
    edges = diagram.edges
    between = np.full(len(thickness), BETWEEN)
    widths = [text_width(label, LABEL) + 6.0 for label in edges.label]
    if sideways:
        between += min(STEEP * float(np.ptp(along)), MOST_STEEP)
        between += min(max(widths, default=0.0), WIDEST)
    elif widths and len(thickness) > 1:
        room = np.zeros(len(thickness))
        np.add.at(room, layer[edges.source], widths)
        rows = np.ceil(room / max(1.0, float(np.ptp(along)) + NARROWEST))
        between += LABEL_ROW * np.minimum(rows, MOST_ROWS)
    return np.concatenate([[0.0], np.cumsum(thickness + between)[:-1]])


def _bars_over(bar: np.ndarray, along: Floats, size: Floats, diagram: Diagram) -> Floats:
    """Return the extents with each bar as long as what is linked to it; it moves there, too."""
    size = size.copy()
    for node in np.flatnonzero(bar).tolist():
        edges = diagram.edges
        near = np.unique(
            np.concatenate([edges.target[edges.source == node], edges.source[edges.target == node]])
        )
        low, high = along[near] - size[near] / 2, along[near] + size[near] / 2
        along[node], size[node] = (low.min() + high.max()) / 2, high.max() - low.min()
    return size


def _ports(
    diagram: Diagram, bends: Sequence[Sequence[float]], along: Floats, size: Floats
) -> tuple[Floats, Floats]:
    """Return where each line leaves its source and enters its target, side by side."""
    source, target = diagram.edges.source.tolist(), diagram.edges.target.tolist()
    bar = diagram.nodes.bar
    found = []
    for near, far, next_bend in ((source, target, 0), (target, source, -1)):
        beside: defaultdict[int, list[tuple[float, int]]] = defaultdict(list)
        for edge, box in enumerate(near):
            towards = bends[edge][next_bend] if bends[edge] else float(along[far[edge]])
            beside[box].append((towards, edge))
        ports = np.empty(len(near))
        for box, lines in beside.items():
            lines.sort()
            if bar is not None and bar[box]:
                for towards, edge in lines:
                    ports[edge] = towards
                continue
            step = min(MOST_PORTS_APART, 0.75 * float(size[box]) / len(lines))
            for place, (_, edge) in enumerate(lines):
                ports[edge] = along[box] + step * (place - (len(lines) - 1) / 2)
        found.append(ports)
    return found[0], found[1]


def _as_given(diagram: Diagram, sizes: Floats) -> tuple[Floats, list[Way]]:
    """Return boxes where the diagram has them, spread out so that none overlap, and lines."""
    nodes = diagram.nodes
    assert nodes.x is not None
    assert nodes.y is not None
    widest = max((text_width(label, LABEL) for label in diagram.edges.label), default=0.0)
    between = max(BETWEEN, min(widest, WIDEST))
    centres = spread_out(np.column_stack([nodes.x, nodes.y]), sizes, GAP, between)
    boxes = np.column_stack([centres - sizes / 2, sizes])
    return boxes, crossing_free(diagram.edges, boxes)
