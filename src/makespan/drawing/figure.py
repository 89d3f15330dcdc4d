"""matplotlib figures → files, beside pyplot, whose backend and figures stay as they are."""

from __future__ import annotations

import warnings
from io import BytesIO
from typing import TYPE_CHECKING

from makespan.core.system.extras import optional

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOTS_PER_INCH = 144
MOST_DOTS = 8000.0
FORMS = (".png", ".pdf")


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
