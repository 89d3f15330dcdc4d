"""Diagrams: nothing overlaps, lines lead from box to box, labels can be read."""

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from makespan.core.picture import Diagram, Edges, Groups, Nodes
from makespan.drawing.diagram.draw import MOST_EDGES, MOST_NODES, Sheet, diagram_svg, thinned
from makespan.drawing.diagram.layers import layers_of
from makespan.drawing.diagram.layout import lay_out
from makespan.drawing.diagram.mpl import draw_on
from tests.thorough import examples

SVG = "{http://www.w3.org/2000/svg}"


def random_diagram(count, seed, share=0.1, *, labelled=True, **more):
    generator = np.random.default_rng(seed)
    source, target = np.nonzero(np.triu(generator.random((count, count)) < share, 1))
    labels = (
        [f"{value:.3g}" for value in generator.uniform(0, 100, len(source))] if labelled else ()
    )
    bold = generator.random(count) < 0.1
    return Diagram(
        nodes=Nodes(
            label=[f"task {index}" * int(generator.integers(1, 3)) for index in range(count)],
            note=[str(index) for index in range(count)],
            bold=bold,
        ),
        edges=Edges(source=source, target=target, label=labels, bold=bold[source] & bold[target]),
        **more,
    )


def overlapping(boxes, margin=0.0):
    one, other = np.triu_indices(len(boxes), 1)
    near = np.abs(boxes[one, :2] + boxes[one, 2:] / 2 - boxes[other, :2] - boxes[other, 2:] / 2)
    return int((near < (boxes[one, 2:] + boxes[other, 2:]) / 2 + margin).all(axis=1).sum())


def on_border(point, box):
    low, high = box[:2], box[:2] + box[2:]
    inside = (point >= low - 0.01) & (point <= high + 0.01)
    return (
        inside.all()
        and (np.isclose(point, low, atol=0.05) | np.isclose(point, high, atol=0.05)).any()
    )


def passes_through(way, box):
    part = np.linspace(0.0, 1.0, 40)[:, None, None]
    points = (way[:-1] * (1 - part) + way[1:] * part).reshape(-1, 2)
    return bool(((points > box[:2] + 1.0) & (points < box[:2] + box[2:] - 1.0)).all(axis=1).any())


@pytest.mark.thorough
@examples(10)
@given(st.integers(1, 60), st.integers(0, 10**6), st.sampled_from([0.02, 0.1, 0.2]))
def test_layers_have_no_overlaps_and_lines_pass_no_box(count, seed, share):
    """Boxes stand apart; each line leads from the border of its source to that of its target."""
    places = lay_out(random_diagram(count, seed, share))
    edges = places.diagram.edges
    assert overlapping(places.boxes, 4.0) == 0
    for edge, way in enumerate(places.ways):
        source, target = int(edges.source[edge]), int(edges.target[edge])
        assert on_border(way[0], places.boxes[source])
        assert on_border(way[-1], places.boxes[target])
        for box in set(range(count)) - {source, target}:
            assert not passes_through(way, places.boxes[box])


@pytest.mark.parametrize("shape", ["wide", "deep", "dense"])
def test_two_hundred_boxes_do_not_overlap(shape):
    """Up to 200 boxes each stands alone, in any graph."""
    count = 200
    if shape == "wide":
        source, target = np.zeros(count - 1, dtype=int), np.arange(1, count)
    elif shape == "deep":
        source, target = np.arange(count - 1), np.arange(1, count)
    else:
        source, target = np.nonzero(
            np.triu(np.random.default_rng(1).random((count, count)) < 0.05, 1)
        )
    drawn = thinned(
        Diagram(
            nodes=Nodes(label=[f"T{i}" for i in range(count)]),
            edges=Edges(source=source, target=target),
        )
    )
    places = lay_out(drawn)
    assert len(places.boxes) == count
    assert overlapping(places.boxes, 4.0) == 0
    assert max(places.width, places.height) < 14_000


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 30), st.integers(0, 10**6))
def test_labels_cover_no_box_and_no_label(count, seed):
    """Every label is on the picture or said to be missing; none covers another or a box."""
    places = lay_out(random_diagram(count, seed))
    rooms = np.array(
        [(l.x - l.width / 2, l.y - l.height / 2, l.width, l.height) for l in places.labels]
    )
    assert len(places.labels) + len(places.unlabelled) == len(places.diagram.edges)
    if len(rooms):
        assert overlapping(np.concatenate([rooms, places.boxes])) == 0
        assert (rooms[:, :2] >= -1e-9).all()
        assert (rooms[:, :2] + rooms[:, 2:] <= np.array([places.width, places.height]) + 1e-9).all()


def test_few_labels_all_have_room():
    """In a graph of the size of an exercise no label is left out."""
    for seed in range(20):
        assert not lay_out(random_diagram(12, seed, 0.15)).unlabelled


@examples(10)
@given(st.integers(2, 20), st.integers(0, 10**6))
def test_boxes_in_given_places_are_spread_out(count, seed):
    """Boxes keep the order of their places, and stand apart."""
    generator = np.random.default_rng(seed)
    x, y = generator.permutation(count) * 1.0, generator.permutation(count) * 1.0
    source, target = np.nonzero(generator.random((count, count)) < 0.3)
    apart = source != target
    drawn = Diagram(
        nodes=Nodes(label=[f"M{index}" for index in range(count)], x=x, y=y),
        edges=Edges(source=source[apart], target=target[apart]),
    )
    places = lay_out(drawn)
    assert overlapping(places.boxes, 4.0) == 0
    middle = places.boxes[:, 0] + places.boxes[:, 2] / 2
    assert np.array_equal(np.argsort(middle), np.argsort(x))
    for edge, way in enumerate(places.ways):
        assert on_border(way[0], places.boxes[int(drawn.edges.source[edge])])
        assert on_border(way[-1], places.boxes[int(drawn.edges.target[edge])])


def test_lines_in_a_row_are_bent_around_boxes():
    """A line to the box after the next does not pass the one between; two ways lie apart."""
    edges = Edges(source=np.array([0, 0, 2]), target=np.array([1, 2, 0]))
    nodes = Nodes(label=list("abc"), x=np.arange(3.0), y=np.zeros(3))
    places = lay_out(Diagram(nodes=nodes, edges=edges))
    assert not any(passes_through(way, places.boxes[1]) for way in places.ways[1:])
    one, other = (way[len(way) // 2, 1] for way in places.ways[1:])
    assert one != other


def test_a_crossing_is_undone():
    """Two lines that would cross are drawn side by side."""
    drawn = Diagram(
        nodes=Nodes(label=list("abcd")),
        edges=Edges(source=np.array([0, 1]), target=np.array([3, 2])),
    )
    left = lay_out(drawn).boxes[:, 0]
    assert (left[0] - left[1]) * (left[3] - left[2]) > 0


def test_leaves_of_a_star_keep_their_order():
    """Boxes whose order makes no difference to lines stand as they are counted."""
    star = Edges(source=np.zeros(9, dtype=int), target=np.arange(1, 10))
    places = lay_out(Diagram(nodes=Nodes(label=[f"P{k}" for k in range(10)]), edges=star))
    assert (np.diff(places.boxes[1:, 0]) > 0).all()


def test_circles_are_drawn_all_the_same():
    """Lines in a circle have no layers; all boxes are drawn nevertheless."""
    ring = Edges(source=np.array([0, 1, 2]), target=np.array([1, 2, 0]))
    assert layers_of(3, ring.source, ring.target).tolist() == [0, 0, 0]
    places = lay_out(Diagram(nodes=Nodes(label=list("abc")), edges=ring))
    assert overlapping(places.boxes) == 0


@pytest.mark.thorough
def test_large_diagrams_are_thinned():
    """Boxes of one layer and colour become one, every task in one of them; lines lead onward."""
    count = 3000
    drawn = random_diagram(count, 3, 0.01, labelled=False)
    colour = Groups(np.arange(count) % 3, ("a", "b", "c"))
    few = thinned(Diagram(nodes=drawn.nodes, edges=drawn.edges, groups=colour))
    assert len(few.nodes) <= MOST_NODES
    assert len(few.edges) <= MOST_EDGES
    assert sorted(np.concatenate(few.members).tolist()) == list(range(count))
    for box, tasks in enumerate(few.members):
        assert len(set(colour.of[tasks].tolist())) == 1
        assert few.groups.of[box] == colour.of[tasks[0]]
    assert (few.nodes.layer[few.edges.source] < few.nodes.layer[few.edges.target]).all()
    assert overlapping(lay_out(few).boxes, 4.0) == 0


def test_boxes_of_many_have_the_middle_of_their_levels():
    """Where colours have an order, a box has the middle one of its tasks."""
    count = 900
    layers = Nodes(label=[f"T{i}" for i in range(count)], layer=np.arange(count) // 300)
    none = np.empty(0, dtype=np.int64)
    levels = Groups(np.arange(count), [str(level) for level in range(count)], ordered=True)
    few = thinned(Diagram(nodes=layers, edges=Edges(source=none, target=none), groups=levels))
    assert few.groups.of.tolist() == [149, 449, 749]


def test_many_lines_are_thinned_to_some_for_each_box():
    """Of 200 tasks with all edges, every task keeps one that leads to it."""
    source, target = np.triu_indices(200, 1)
    drawn = Diagram(
        nodes=Nodes(label=[str(i) for i in range(200)]), edges=Edges(source=source, target=target)
    )
    few = thinned(drawn)
    assert len(few.edges) == MOST_EDGES
    assert set(few.edges.target.tolist()) == set(range(1, 200))
    assert "2,000 of 19,900 lines are shown" in few.notes


def test_svg_counts_boxes_and_lines_and_says_what_they_are():
    """A group for each box and line, with what it stands for."""
    drawn = random_diagram(
        10, 5, title="a <graph>", groups=Groups(np.arange(10) % 2, ("x", "y")), bold="path"
    )
    root = ElementTree.fromstring(diagram_svg(drawn))
    groups = {
        name: [g for g in root.iter(f"{SVG}g") if g.get("class") == name]
        for name in ("node", "edge", "label")
    }
    assert [g.get("data-task") for g in groups["node"]] == [str(i) for i in range(10)]
    assert sorted(int(g.get("data-edge")) for g in groups["edge"]) == list(range(len(drawn.edges)))
    for line in groups["edge"]:
        edge = int(line.get("data-edge"))
        assert int(line.get("data-from")) == drawn.edges.source[edge]
        assert int(line.get("data-to")) == drawn.edges.target[edge]
        assert len(list(line.iter(f"{SVG}path"))) == 2  # the line and its head
    texts = {text.text for text in root.iter(f"{SVG}text")}
    assert {"a <graph>", "x", "y", "path", *drawn.edges.label} <= texts


def test_colours_of_the_page_are_names():
    """On a page there is no colour of paper or ink but by name, and no title."""
    drawn = random_diagram(5, 1, title="a graph")
    svg = diagram_svg(drawn, on_page=True)
    assert "var(--paper)" in svg
    assert "#FFFFFF" not in svg
    assert ">a graph</text>" not in svg


def test_matplotlib_draws_the_same_texts():
    """Names, notes and labels are on the axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawn = random_diagram(8, 2, title="a $graph$")
    figure = Figure()
    FigureCanvasAgg(figure)
    ax = draw_on(Sheet.of(drawn), figure.add_subplot())
    figure.canvas.draw()
    assert {"a $graph$", *drawn.nodes.label, *drawn.edges.label} <= {t.get_text() for t in ax.texts}


def test_nothing_can_be_drawn():
    """A diagram without boxes is a picture with a title."""
    empty = np.empty(0, dtype=np.int64)
    svg = diagram_svg(
        Diagram(nodes=Nodes(label=()), edges=Edges(source=empty, target=empty), title="none")
    )
    assert ">none</text>" in svg
