"""A small writer of SVG: rectangles, lines, texts and paths, everything escaped.

No style sheets and no identifiers, so that several drawings can stand in one HTML page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from makespan.core.plain import STEERING

FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|" + STEERING.pattern)
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
Rectangle = tuple[float, float, float, float]


def escaped(text: str) -> str:
    """Return ``text`` for use in XML and HTML, in content and in attributes.

    Characters that XML does not allow, and those that steer how text is shown, become the
    replacement character.

    >>> escaped('<b>&"')
    '&lt;b&gt;&amp;&quot;'
    """
    allowed = FORBIDDEN.sub("\ufffd", text)
    return "".join(ENTITIES.get(character, character) for character in allowed)


def number(value: float) -> str:
    """Return a coordinate with two decimals at most.

    >>> number(12.0), number(0.126), number(-0.001)
    ('12', '0.13', '0')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


class Canvas:
    """Collects shapes and gives them as one SVG element."""

    def __init__(self, title: str = "") -> None:
        self._title = title
        self._parts: list[str] = []

    def rectangle(
        self,
        box: Rectangle,
        fill: str,
        *,
        stroke: str = "",
        opacity: float = 1.0,
        tip: str = "",
    ) -> None:
        """Draw (x, y, width, height); ``tip`` shows when the mouse rests on it."""
        x, y, width, height = map(number, box)
        look = f' stroke="{stroke}" stroke-width="0.5"' if stroke else ""
        look += f' fill-opacity="{number(opacity)}"' if opacity < 1 else ""
        end = f"><title>{escaped(tip)}</title></rect>" if tip else "/>"
        self._parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}"{look}{end}'
        )

    def rectangles(
        self, boxes: Iterable[Rectangle], fill: str, *, stroke: str = "", opacity: float = 1.0
    ) -> None:
        """Draw many rectangles of one look as one path, which is short."""
        steps = [
            f"M{number(x)} {number(y)}h{number(w)}v{number(h)}h{number(-w)}z"
            for x, y, w, h in boxes
        ]
        if not steps:
            return
        look = f' stroke="{stroke}" stroke-width="0.5"' if stroke else ""
        look += f' fill-opacity="{number(opacity)}"' if opacity < 1 else ""
        self._parts.append(f'<path fill="{fill}"{look} d="{"".join(steps)}"/>')

    def line(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        stroke: str,
        *,
        width: float = 1.0,
        dashes: str = "",
    ) -> None:
        """Draw a line from ``start`` to ``end``."""
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self._parts.append(
            f'<line x1="{number(start[0])}" y1="{number(start[1])}" x2="{number(end[0])}" '
            f'y2="{number(end[1])}" stroke="{stroke}" stroke-width="{number(width)}"{dashed}/>'
        )

    def text(
        self,
        at: tuple[float, float],
        text: str,
        *,
        size: float,
        fill: str,
        anchor: str = "start",
        bold: bool = False,
        tip: str = "",
    ) -> None:
        """Write ``text`` with its baseline at ``at``; ``anchor`` is start, middle or end."""
        look = f' text-anchor="{anchor}"' if anchor != "start" else ""
        look += ' font-weight="bold"' if bold else ""
        shown_on_rest = f"<title>{escaped(tip)}</title>" if tip else ""
        self._parts.append(
            f'<text x="{number(at[0])}" y="{number(at[1])}" font-size="{number(size)}" '
            f'fill="{fill}"{look}>{shown_on_rest}{escaped(text)}</text>'
        )

    def document(self, width: float, height: float) -> str:
        """Return the SVG element."""
        across, down = number(math.ceil(width)), number(math.ceil(height))
        title = f"<title>{escaped(self._title)}</title>" if self._title else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{across}" height="{down}" '
            f'viewBox="0 0 {across} {down}" role="img" '
            f'font-family="{FONT}">{title}\n' + "\n".join(self._parts) + "\n</svg>\n"
        )
