"""matplotlib figures → files, beside pyplot, whose backend and figures stay as they are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from makespan.core.system.startup import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOTS_PER_INCH = 144
MOST_DOTS = 8000.0
FORMS = (".png", ".pdf")
WIDE = 9.0
"""Inches of figures whose height follows from their rows."""

Part = tuple[float, "Callable[[Axes], object]"]
"""A part of a figure: how many inches high it is, and what draws it."""


def own_figure(**options: object) -> Figure:
    """Return a figure that pyplot does not know."""
    canvas = optional("matplotlib.backends.backend_agg").FigureCanvasAgg
    figure: Figure = optional("matplotlib.figure").Figure(**options)
    canvas(figure)
    return figure


def as_bytes(figure: Figure, suffix: str) -> bytes:
    """Return a figure as ``.png`` or ``.pdf``, the same bytes every time."""
    content = BytesIO()
    dots = min(DOTS_PER_INCH, MOST_DOTS / max(figure.get_size_inches()))
    undated = {"CreationDate": None} if suffix == ".pdf" else None
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
