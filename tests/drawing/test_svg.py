"""SVG is well-formed whatever names hold."""

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan.core.picture import Mark, Picture, Role, Row
from makespan.drawing.colours import FILL
from makespan.drawing.gantt.svg import gantt_svg
from makespan.drawing.svg import Canvas, escaped, number
from tests.drawing.gantt.test_merge import bars_of

SVG = "{http://www.w3.org/2000/svg}"


def small(name="A", **more):
    return Picture(
        rows=(Row(name, ("receive", "compute"), "note"), Row("idler", ("",), "idle")),
        bars=bars_of([(0, 0, Role.RECEIVE, 0.0, 1.0), (0, 1, Role.COMPUTE, 1.0, 4.0)]),
        labels=("x", "<y>"),
        **more,
    )


def texts(svg):
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@given(st.text(max_size=30))
def test_any_name_gives_well_formed_xml(name):
    """Control characters, surrogates and markup in names do no harm."""
    ElementTree.fromstring(gantt_svg(small(name, title=name)).encode("utf-8", "strict"))


def test_markup_in_names_is_shown_not_obeyed():
    """A name that looks like markup is written as text."""
    svg = gantt_svg(small('<b>&"', title="<script>alert(1)</script>"))
    assert "<script" not in svg
    assert "<b>" not in svg
    assert '<b>&"' in texts(svg)


def test_names_notes_and_texts_are_there():
    """The picture names its machines, lanes, notes, roles and axis."""
    found = texts(gantt_svg(small(title="a plan")))
    for wanted in ("a plan", "A", "idler", "note", "idle", "receive", "compute", "<y>", "time (s)"):
        assert wanted in found


def test_bars_stand_where_their_times_say():
    """A bar of three quarters of the time is three times as wide as one of a quarter."""
    root = ElementTree.fromstring(gantt_svg(small()))
    width = {
        role: [
            float(element.get("width"))
            for element in root.iter(f"{SVG}rect")
            if element.get("fill") == FILL[role] and element.find(f"{SVG}title") is not None
        ]
        for role in (Role.RECEIVE, Role.COMPUTE)
    }
    (receive,), (compute,) = width[Role.RECEIVE], width[Role.COMPUTE]
    assert compute == pytest.approx(3 * receive, rel=1e-3)


def test_bars_say_what_they_are_when_pointed_at():
    """A bar's tip names machine, role, label and times."""
    tips = [
        element.text for element in ElementTree.fromstring(gantt_svg(small())).iter(f"{SVG}title")
    ]
    assert "A: compute <y>, 1 to 4 s" in tips


def test_marks_have_labels():
    """Makespan and bound are written with their times."""
    picture = small().with_marks("", (Mark("makespan", 4.0), Mark("bound", 2.0, limit=True)))
    assert {"makespan 4", "bound 2"} <= set(texts(gantt_svg(picture)))


def test_legend_can_be_left_out():
    """Without a legend, roles are not explained."""
    assert "idle" in texts(gantt_svg(small()))
    lanes_only = texts(gantt_svg(small(), legend=False))
    assert lanes_only.count("compute") == 1


def test_million_bars_make_a_small_file():
    """A million bars in sixty rows stay below 2 MB."""
    count = 1_000_000
    start = np.sort(np.random.default_rng(3).uniform(0.0, 1.0, count))
    rows = np.arange(count) % 60
    from makespan.core.picture import Bars

    bars = Bars(
        row=rows,
        lane=rows * 0,
        role=(np.arange(count) % 5).astype(np.int8),
        activity=np.arange(count),
        start=start,
        end=start + 1e-6,
    )
    svg = gantt_svg(Picture(rows=tuple(Row(f"M{k}", ("send",)) for k in range(60)), bars=bars))
    assert len(svg) < 2_000_000
    assert set(FILL.values()) <= {e.get("fill") for e in ElementTree.fromstring(svg).iter()}


def test_canvas_writes_short_numbers_and_escapes():
    """Coordinates have two decimals; text and tips are escaped."""
    canvas = Canvas("<t>")
    canvas.rectangle((0.123456, 1.0, 2.0, 3.0), "#ffffff", tip="a<b")
    canvas.line((0, 0), (1, 1), "#000000", dashes="1 2")
    root = ElementTree.fromstring(canvas.document(10.0, 10.0))
    rectangle = root.find(f"{SVG}rect")
    assert rectangle.get("x") == "0.12"
    assert rectangle.find(f"{SVG}title").text == "a<b"
    assert root.find(f"{SVG}title").text == "<t>"
    assert root.find(f"{SVG}line").get("stroke-dasharray") == "1 2"
    assert number(1e-9) == "0"
    assert escaped("\x00'") == "\ufffd&#39;"
