"""Diagrams → SVG."""

from __future__ import annotations

from makespan.core.diagram import Diagram
from makespan.drawing.colours import LIGHT, ON_PAGE
from makespan.drawing.diagram.draw import Sheet, draw
from makespan.drawing.diagram.layout import lay_out
from makespan.drawing.diagram.thin import thinned
from makespan.drawing.svg import Canvas


def diagram_svg(diagram: Diagram, *, on_page: bool = False) -> str:
    """Return a diagram as an SVG element.

    Each box is a group of the class ``node`` with the attribute ``data-task`` or ``data-machine``:
    the indices that it stands for, with spaces between. Each line is a group of the class ``edge``
    with ``data-from`` and ``data-to``, the places of its boxes among the groups ``node``, and
    ``data-edge`` or ``data-activity`` where it stands for one; so has its label, of the class
    ``label``.

    Parameters
    ----------
    diagram
        What to draw; large ones are thinned.
    on_page
        Whether the colours are those of the page around it, by day and by night.
    """
    sheet = Sheet.of(lay_out(thinned(diagram)), titled=not on_page)
    canvas = Canvas(diagram.title)
    draw(sheet, canvas, ON_PAGE if on_page else LIGHT)
    return canvas.document(sheet.width, sheet.height)
