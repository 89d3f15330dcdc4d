"""Large diagrams, made small: boxes of one layer and colour become one box."""

import math
from dataclasses import replace

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.picture import Diagram, Edges, Nodes
from makespan.drawing.diagram.layers import layers_of

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
        band = layer // together
        keys = np.column_stack([band, ~bold, colour])
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
