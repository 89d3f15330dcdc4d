"""Gantt charts, diagrams and curves → SVG, or matplotlib: one call for all three.

Figures for files are made beside pyplot, whose backend and figures stay as they are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from makespan.core.picture import Curves, Drawn, Picture
from makespan.core.system.startup import optional
from makespan.drawing.diagram.curves import FIGURE, curves_on, curves_svg
from makespan.drawing.diagram.draw import Sheet, diagram_svg
from makespan.drawing.gantt.layout import MAX_ROWS
from makespan.drawing.gantt.svg import gantt_svg
from makespan.drawing.svg import resized

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


DOTS_PER_INCH = 144
MOST_DOTS = 8000.0
FORMS = (".png", ".pdf")
WIDE = 9.0  # inches of figures whose height follows from their rows
NARROW = 5.0  # inches below which a figure is for a column of a paper: smaller texts, less high

Part = tuple[float, "Callable[[Axes], object]"]
"""A part of a figure: how many inches high it is, and what draws it."""


def own_figure(**options: object) -> Figure:
    """Return a figure that pyplot does not know."""
    canvas = optional("matplotlib.backends.backend_agg").FigureCanvasAgg
    figure: Figure = optional("matplotlib.figure").Figure(**options)
    canvas(figure)
    return figure


def as_bytes(figure: Figure, suffix: str) -> bytes:
    """Return a figure as ``.png``, ``.pdf`` or ``.svg``, the same bytes every time."""
    content = BytesIO()
    dots = min(DOTS_PER_INCH, MOST_DOTS / max(figure.get_size_inches()))
    undated = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(suffix)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(content, format=suffix[1:], dpi=dots, metadata=undated)
    return content.getvalue()


def drawn(part: Part, ax: Axes | None) -> Axes:
    """Draw into axes, or into a new figure of pyplot, and return the axes."""
    height, draw = part
    if ax is None:
        plt = optional("matplotlib.pyplot")
        ax = plt.subplots(figsize=(WIDE, height), layout="constrained")[1]
        assert ax is not None
    draw(ax)
    return ax


def stacked_image(parts: Sequence[Part], suffix: str) -> bytes:
    """Return drawings below each other as ``.png`` or ``.pdf``."""
    heights = [height for height, _ in parts]
    figure = own_figure(figsize=(WIDE, sum(heights)), layout="constrained")
    axes = figure.subplots(len(parts), squeeze=False, height_ratios=heights)
    for (_, draw), ax in zip(parts, axes[:, 0], strict=True):
        draw(ax)
    return as_bytes(figure, suffix)


def panel_image(part: Part, width: float, suffix: str) -> bytes:
    """Return one drawing alone, ``width`` inches wide, without its title: papers have captions."""
    narrow = width < NARROW
    style = {"font.size": 8.0 if narrow else 10.0, "pdf.fonttype": 42, "svg.hashsalt": "makespan"}
    with optional("matplotlib").rc_context(style):
        figure = own_figure(figsize=(width, part[0] * (0.75 if narrow else 1.0)))
        figure.set_layout_engine("constrained")
        axes = figure.subplots()
        part[1](axes)
        axes.set_title("", loc="left")
        return as_bytes(figure, suffix)


LARGEST = 40.0  # inches of a figure, at most
PIXELS = 1000.0  # the width of a Gantt chart


def as_svg(
    what: Picture | Drawn,
    *,
    width: float | None = None,
    max_rows: int = MAX_ROWS,
    legend: bool = True,
    on_page: bool = False,
) -> str:
    """Return a picture as an SVG element.

    ``max_rows`` and ``legend`` are those of Gantt charts. Without a ``width`` diagrams and curves
    are as large as they need; they have the colours of the page around them if ``on_page``.
    """
    if isinstance(what, Picture):
        return gantt_svg(what, width=width or PIXELS, max_rows=max_rows, legend=legend)
    if isinstance(what, Curves):
        made = curves_svg(what, on_page=on_page)
    else:
        made = diagram_svg(what, on_page=on_page)
    return made if width is None else resized(made, width)


def on_axes(
    what: Picture | Drawn,
    ax: Axes | None,
    *,
    max_rows: int = MAX_ROWS,
    legend: bool = True,
    figure: Figure | None = None,
    width: float | None = None,
) -> Axes:
    """Draw a picture with matplotlib into ``ax``, or into new axes that fill a ``figure``.

    The figure gets the size that the picture needs, or is ``width`` inches wide; without one,
    pyplot makes it.
    """
    if isinstance(what, Picture):
        from makespan.drawing.gantt.mpl import FigureFrame, gantt

        if ax is None:
            asked = {} if width is None else {"inches": width}
            frame = FigureFrame.of(what, max_rows=max_rows, legend=legend, **asked)
            figure = _sized(figure, frame.size)
            figure.subplots_adjust(**frame.margins)
            ax = figure.add_subplot()
        return gantt(what, ax, max_rows=max_rows, legend=legend)
    if isinstance(what, Curves):
        if ax is None:
            across, up = FIGURE
            figure = _sized(figure, FIGURE if width is None else (width, up * width / across))
            figure.set_layout_engine("constrained")
            ax = figure.add_subplot()
        return curves_on(what, ax)
    from makespan.drawing.diagram.mpl import POINTS, draw_on

    sheet = Sheet.of(what)
    if ax is None:
        inches = sheet.width / POINTS, sheet.height / POINTS
        scale = min(1.0, LARGEST / max(inches)) if width is None else width / inches[0]
        ax = _sized(figure, (scale * inches[0], scale * inches[1])).add_axes((0.0, 0.0, 1.0, 1.0))
    return draw_on(sheet, ax)


def _sized(figure: Figure | None, inches: tuple[float, float]) -> Figure:
    if figure is None:
        made: Figure = optional("matplotlib.pyplot").figure(figsize=inches)
        return made
    figure.set_size_inches(*inches)
    return figure
