"""Curves as SVG."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from makespan.core.picture import Curves, Line
from makespan.drawing.diagram.curves import curves_svg


def test_no_words_stand_on_others_above_the_axes() -> None:
    """On a page, whose tab has the title, the name of the upright axis has that place."""
    values = np.array([1.0, 2.0])
    points = Line(
        name="front", x=values, y=values, look="points", chosen=np.array([0]), labels=["one", "two"]
    )
    curves = Curves(lines=(points,), across="makespan (s)", up="price", title="Front: 2 points")
    for on_page in (False, True):
        svg = ElementTree.fromstring(curves_svg(curves, on_page=on_page))
        height = {
            text.text: float(text.get("y")) for text in svg.iter() if text.tag.endswith("text")
        }
        assert ("Front: 2 points" in height) is not on_page
        assert height["price"] - height.get("Front: 2 points", 0.0) > 12.0
