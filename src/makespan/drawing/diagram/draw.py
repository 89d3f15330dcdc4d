"""Diagrams → shapes, on any surface that draws rectangles, lines and texts; an SVG is one.

Large diagrams are made small first: boxes of one layer and colour become one box.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Protocol, Unpack

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.picture import Diagram, Edges, Nodes
from makespan.drawing.colours import LIGHT, ON_PAGE, fills, ink_on, legend_of
from makespan.drawing.diagram.layers import layers_of
from makespan.drawing.diagram.layout import BOLD, LABEL, SIZE, SMALL, Places, lay_out
from makespan.drawing.svg import Canvas, Font, Outline, Point, Rectangle, Stroke
from makespan.drawing.text import elided, in_rows, text_width

MOST_NODES = 200
MOST_EDGES = 2000
MOST_LAYERS = 25


def thinned(diagram: Diagram, most: int = MOST_NODES) -> Diagram:
    """Return a diagram of at most ``most`` boxes in at most 25 layers, and of at most 2000 lines.

    Where there are more boxes, those of one layer and colour become one, bold ones beside them; of
    many layers, neighbours are put together, too. Lines within such a layer go. Of too many lines
    the bold ones stay, then some to each box. Complexity: O((boxes + edges) log edges).
    """
    if len(diagram.nodes) > most and diagram.nodes.x is None:
        diagram = _grouped(diagram, most)
    return _with_fewer_lines(diagram)


def _grouped(diagram: Diagram, most: int) -> Diagram:
    nodes, edges = diagram.nodes, diagram.edges
    count = len(nodes)
    layer = nodes.layer
    if layer is None:
        layer = layers_of(count, edges.source, edges.target)
    groups, colour = diagram.groups, np.zeros(count, dtype=np.int64)
    told_apart = groups is not None and not groups.ordered
    if groups is not None and told_apart:
        colour = groups.of
    bold = np.zeros(count, dtype=bool) if nodes.bold is None else nodes.bold
    together = math.ceil((int(layer.max()) + 1) / MOST_LAYERS)
    while True:
        keys = np.column_stack([layer // together, ~bold, colour])
        found, first, of = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        if len(found) <= most or together > int(layer.max()):
            break
        together *= 2
    of = of.ravel()
    members = np.split(np.argsort(of, kind="stable"), np.cumsum(np.bincount(of))[:-1])
    notes = nodes.note if len(nodes.note) else [""] * count
    what = f"{diagram.stands_for}s"
    texts = [
        (nodes.label[each[0]], notes[each[0]])
        if len(each) == 1
        else (f"{len(each):,} {what}", f"{nodes.label[each[0]]} … {nodes.label[each[-1]]}")
        for each in members
    ]
    item = np.arange(count) if nodes.item is None else nodes.item
    alike = " of one colour" if told_apart else ""
    where = "in a layer" if together == 1 else f"in {together} layers"
    height = found[:, 0].astype(np.float64)
    if told_apart:  # types follow one another in a layer of layers
        height = np.bincount(of, weights=layer) / np.bincount(of)
    if groups is not None:
        middle = [int(np.median(groups.of[each])) for each in members]
        groups = replace(groups, of=np.array(middle, dtype=np.int64))
    lines = _between(edges, of, height)
    return replace(
        diagram,
        nodes=Nodes(
            label=[label for label, _ in texts],
            note=[note for _, note in texts],
            bold=bold[first],
            layer=layers_of(len(found), lines.source, lines.target) if told_apart else found[:, 0],
        ),
        edges=lines,
        groups=groups,
        members=[item[each] for each in members],
        notes=(*diagram.notes, f"a box stands for all {what}{alike} {where}"),
    )


def _between(edges: Edges, of: Integers, height: Floats) -> Edges:
    """Return one line for all lines between two boxes, where it leads on to a higher one."""
    start, end = of[edges.source], of[edges.target]
    onward = np.flatnonzero(height[start] < height[end])
    pairs, first, inverse = np.unique(
        np.column_stack([start[onward], end[onward]]),
        axis=0,
        return_index=True,
        return_inverse=True,
    )
    bold = np.zeros(len(pairs), dtype=bool)
    if edges.bold is not None:
        np.logical_or.at(bold, inverse.ravel(), edges.bold[onward])
    lines = np.bincount(inverse.ravel(), minlength=len(pairs))
    item = np.arange(len(edges)) if edges.item is None else edges.item
    return Edges(
        source=pairs[:, 0],
        target=pairs[:, 1],
        label=[f"{count:,}×" if count > 1 else "" for count in lines.tolist()],
        bold=bold,
        item=np.where(lines == 1, item[onward][first], -1),
        arrow=edges.arrow,
    )


def _with_fewer_lines(diagram: Diagram) -> Diagram:
    edges = diagram.edges
    if len(edges) <= MOST_EDGES:
        return diagram
    bold = np.zeros(len(edges), dtype=bool) if edges.bold is None else edges.bold
    by_target = np.argsort(edges.target, kind="stable")
    first = np.searchsorted(edges.target[by_target], np.arange(len(diagram.nodes)))
    turn = np.empty(len(edges), dtype=np.int64)
    turn[by_target] = np.arange(len(edges)) - first[edges.target[by_target]]
    kept = np.sort(np.lexsort((turn, ~bold))[:MOST_EDGES])
    fewer = Edges(
        source=edges.source[kept],
        target=edges.target[kept],
        label=[edges.label[edge] for edge in kept.tolist()] if len(edges.label) else (),
        bold=bold[kept],
        dashed=None if edges.dashed is None else edges.dashed[kept],
        item=(np.arange(len(edges)) if edges.item is None else edges.item)[kept],
        arrow=edges.arrow,
    )
    return replace(
        diagram,
        edges=fewer,
        notes=(*diagram.notes, f"{len(fewer):,} of {len(edges):,} lines are shown"),
    )


TITLE, LEGEND = 14.0, 10.0
LINE = 16.0
PADDING = 14.0
NARROWEST = 320.0
CROWDED = 300  # lines from which they are paler
HEAD = 7.0
BEHIND = 3.0
CORNER, BEND = 4.0, 10.0


class Surface(Protocol):
    """What can be drawn on: :class:`makespan.drawing.svg.Canvas` is one."""

    def group(self, name: str, tip: str = "", **data: object) -> AbstractContextManager[None]:
        """Put what is drawn meanwhile together."""

    def rectangle(self, box: Rectangle, fill: str, **look: Unpack[Outline]) -> None:
        """Draw (x, y, width, height)."""

    def way(self, points: Sequence[Point], stroke: str, **look: Unpack[Stroke]) -> None:
        """Draw a line through points."""

    def polygon(self, corners: Sequence[Point], fill: str) -> None:
        """Fill the area between corners."""

    def text(self, at: Point, text: str, **look: Unpack[Font]) -> None:
        """Write ``text`` with its baseline at ``at``."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A diagram with its title above, its legend and notes below: how large it is all in all."""

    places: Places
    width: float
    height: float
    left: float
    top: float
    legend: tuple[tuple[float, float, str, str], ...]  # x, y, word; colour, ``bold`` or ``dashed``

    @classmethod
    def of(cls, diagram: Diagram, *, titled: bool = True) -> Sheet:
        """Return a diagram, thinned and placed; its units are points in a figure of its size."""
        places = lay_out(thinned(diagram))
        diagram = places.diagram
        lines = [
            BOLD * text_width(diagram.title, TITLE) * titled + 2 * PADDING,
            places.width + 2 * PADDING,
            *(text_width(n, SMALL) + 2 * PADDING for n in diagram.notes),
        ]
        width = max(NARROWEST, min(max(lines), max(places.width + 2 * PADDING, 640.0)))
        top = PADDING + (LINE + 8) * (titled and bool(diagram.title))
        legend, below = _legend(places, width, top + places.height + PADDING)
        below += LINE * len(_notes(places))
        left = (width - places.width) / 2
        return cls(places, width, below + PADDING / 2, left, top, tuple(legend))


def diagram_svg(diagram: Diagram, *, on_page: bool = False) -> str:
    """Return a diagram, thinned where it is large, as an SVG element; ``on_page`` in the page's
    colours.

    Each box is a group of the class ``node`` with the attribute ``data-task`` or ``data-machine``:
    the indices that it stands for, with spaces between. Each line is a group of the class ``edge``
    with ``data-from`` and ``data-to``, the places of its boxes among the groups ``node``, and
    ``data-edge`` or ``data-activity`` where it stands for one; so has its label, of the class
    ``label``.
    """
    sheet = Sheet.of(diagram, titled=not on_page)
    canvas = Canvas(diagram.title)
    draw(sheet, canvas, ON_PAGE if on_page else LIGHT)
    return canvas.document(sheet.width, sheet.height)


def _notes(places: Places) -> tuple[str, ...]:
    missing = len(places.unlabelled)
    lines = f"{missing} line{'s have' if missing > 1 else ' has'} no room for a label"
    return (*places.diagram.notes, *([lines] if missing else []))


def _legend(
    places: Places, width: float, y: float
) -> tuple[list[tuple[float, float, str, str]], float]:
    """Return the entries of the legend in rows, and where they end."""
    diagram = places.diagram
    words = [] if diagram.groups is None else legend_of(diagram.groups)
    words = [(elided(word, LEGEND, 180.0), fill) for word, fill in words]
    for word, look, flags in (
        (diagram.bold, "bold", (diagram.edges.bold, diagram.nodes.bold)),
        (diagram.dashed, "dashed", (diagram.edges.dashed,)),
    ):
        if word and any(flag is not None and flag.any() for flag in flags):
            words.append((word, look))
    spots = in_rows((36.0 + text_width(word, LEGEND) for word, _ in words), PADDING, width)
    entries = [
        (x, y + LINE * row, word, look) for (row, x), (word, look) in zip(spots, words, strict=True)
    ]
    return entries, (entries[-1][1] + LINE + 6 if entries else y)


def draw(sheet: Sheet, surface: Surface, colours: Mapping[str, str] = LIGHT) -> None:
    """Draw a sheet, with groups ``node`` and ``edge`` that say what they stand for."""
    surface.rectangle((0, 0, sheet.width, sheet.height), colours["paper"])
    places = sheet.places
    diagram = places.diagram
    if sheet.top > PADDING:
        title = elided(diagram.title, TITLE, (sheet.width - 2 * PADDING) / BOLD)
        surface.text((PADDING, PADDING + 11.0), title, size=TITLE, fill=colours["ink"], bold=True)
    _lines(sheet, surface, colours)
    _boxes(sheet, surface, colours)
    for label in places.labels:
        x, y = label.x + sheet.left, label.y + sheet.top
        box = (x - label.width / 2, y - label.height / 2, label.width, label.height)
        with surface.group("label", edge=_item(sheet, label.edge)):
            surface.rectangle(box, colours["paper"], opacity=0.85)
            surface.text(
                (x, y + LABEL * 0.35), label.text, size=LABEL, fill=colours["ink"], anchor="middle"
            )
    _below(sheet, surface, colours)


def _item(sheet: Sheet, edge: int) -> int:
    item = sheet.places.diagram.edges.item
    return edge if item is None else int(item[edge])


def _lines(sheet: Sheet, surface: Surface, colours: Mapping[str, str]) -> None:
    """Draw the lines, the bold ones over the others."""
    edges = sheet.places.diagram.edges
    bold = np.zeros(len(edges), dtype=bool) if edges.bold is None else edges.bold
    dashed = np.zeros(len(edges), dtype=bool) if edges.dashed is None else edges.dashed
    pale = colours["grid"] if len(edges) > CROWDED else colours["faint"]
    for edge in np.argsort(bold, kind="stable").tolist():
        way = [(x + sheet.left, y + sheet.top) for x, y in sheet.places.ways[edge].tolist()]
        stroke, width = (colours["ink"], 2.2) if bold[edge] else (pale, 1.0)
        source, target = int(edges.source[edge]), int(edges.target[edge])
        data: dict[str, object] = {"from": source, "to": target}
        if _item(sheet, edge) >= 0:
            data[sheet.places.diagram.carries] = _item(sheet, edge)
        with surface.group("edge", _tip_of_edge(sheet, edge), **data):
            dashes = "5 3" if dashed[edge] else ""
            head = _head(way, HEAD + width) if edges.arrow else None
            if head is not None:
                way = [*way[:-1], head[1]]
            surface.way(way, stroke, width=width, dashes=dashes, radius=BEND)
            if head is not None:
                surface.polygon(head[0], stroke)


def _tip_of_edge(sheet: Sheet, edge: int) -> str:
    diagram = sheet.places.diagram
    names, edges = diagram.nodes.label, diagram.edges
    label = f": {edges.label[edge]}" if len(edges.label) and edges.label[edge] else ""
    return f"{names[int(edges.source[edge])]} → {names[int(edges.target[edge])]}{label}"


def _head(way: Sequence[Point], size: float) -> tuple[list[Point], Point] | None:
    """Return the corners of an arrow's head at the end of a line, and where the line ends then."""
    (x, y), end = way[-2], way[-1]
    length = math.dist((x, y), end)
    if length == 0.0:
        return None
    along = ((end[0] - x) / length, (end[1] - y) / length)
    back = (end[0] - size * along[0], end[1] - size * along[1])
    half = size * 0.38
    one = (back[0] - half * along[1], back[1] + half * along[0])
    other = (back[0] + half * along[1], back[1] - half * along[0])
    return [end, one, other], (end[0] - 0.7 * size * along[0], end[1] - 0.7 * size * along[1])


def _boxes(sheet: Sheet, surface: Surface, colours: Mapping[str, str]) -> None:
    places = sheet.places
    diagram, nodes = places.diagram, places.diagram.nodes
    groups = diagram.groups
    palette = fills(groups) if groups is not None else []
    for node, (x, y, width, height) in enumerate(places.boxes.tolist()):
        box = (x + sheet.left, y + sheet.top, width, height)
        group = -1 if groups is None else int(groups.of[node])
        fill = palette[group] if group >= 0 else colours["panel"]
        ink = ink_on(fill) if group >= 0 else colours["ink"]
        strong = nodes.bold is not None and bool(nodes.bold[node])
        stroke, thick = (colours["ink"], 2.2) if strong else (colours["faint"], 0.8)
        items = diagram.items_of(node)
        data = {diagram.stands_for: " ".join(map(str, items))} if items else {}
        with surface.group("node", _tip(sheet, node), **data):
            if len(items) > 1:
                back = (box[0] + BEHIND, box[1] + BEHIND, width, height)
                surface.rectangle(back, fill, stroke=stroke, thick=0.5, radius=CORNER)
            surface.rectangle(box, fill, stroke=stroke, thick=thick, radius=CORNER)
            middle = box[0] + width / 2
            note = places.notes[node] if len(places.notes) else ""
            baseline = box[1] + (14.0 if note else height / 2 + SIZE * 0.35)
            if height >= SIZE:
                surface.text(
                    (middle, baseline), places.texts[node],
                    size=SIZE, fill=ink, anchor="middle", bold=strong,
                )  # fmt: skip
            if note:
                surface.text((middle, box[1] + 27.0), note, size=SMALL, fill=ink, anchor="middle")


def _tip(sheet: Sheet, node: int) -> str:
    diagram = sheet.places.diagram
    nodes, groups = diagram.nodes, diagram.groups
    said = [nodes.label[node]]
    if len(nodes.note) and nodes.note[node]:
        said.append(nodes.note[node])
    if groups is not None and groups.of[node] >= 0:
        said.append(groups.names[int(groups.of[node])])
    return ", ".join(said)


def _below(sheet: Sheet, surface: Surface, colours: Mapping[str, str]) -> None:
    y = sheet.top + sheet.places.height + PADDING
    for x, at, word, look in sheet.legend:
        if look in ("bold", "dashed"):
            ends = [(x, at + 4.0), (x + 18.0, at + 4.0)]
            width, dashes = (2.2, "") if look == "bold" else (1.0, "5 3")
            surface.way(ends, colours["ink"], width=width, dashes=dashes)
        else:
            surface.rectangle((x, at - 2.0, 16.0, 11.0), look, stroke=colours["faint"], radius=2.0)
        surface.text((x + 22.0, at + 7.5), word, size=LEGEND, fill=colours["ink"])
        y = at + LINE + 6
    for line in _notes(sheet.places):
        surface.text((PADDING, y + 8.0), line, size=SMALL, fill=colours["faint"])
        y += LINE
