"""A small writer of SVG: rectangles, lines, texts and paths, everything escaped.

No style sheets and no identifiers, so that several drawings can stand in one HTML page.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Required, TypedDict, Unpack

from makespan.core.errors import STEERING

FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|" + STEERING.pattern)
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
THICK = 0.5
Point = tuple[float, float]
Rectangle = tuple[float, float, float, float]


class Outline(TypedDict, total=False):
    """How a rectangle looks beside its ``fill``; without ``stroke`` it has no outline."""

    stroke: str
    thick: float
    radius: float
    opacity: float


class Stroke(TypedDict, total=False):
    """How a line looks beside its colour; with a ``radius`` its corners are round."""

    width: float
    dashes: str
    radius: float


class Font(TypedDict, total=False):
    """How text looks; ``anchor`` is start, middle or end."""

    size: Required[float]
    fill: Required[str]
    anchor: str
    bold: bool


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


def _place(point: Point) -> str:
    return f"{number(point[0])} {number(point[1])}"


def rounded(points: Sequence[Point], radius: float) -> list[tuple[Point, ...]]:
    """Return the steps of a line with round corners: where it starts, then a point for each
    straight step, and a corner with a point for each curved one.

    >>> rounded([(0.0, 0.0), (9.0, 0.0), (9.0, 9.0)], 2.0)
    [((0.0, 0.0),), ((7.0, 0.0),), ((9.0, 0.0), (9.0, 2.0)), ((9.0, 9.0),)]
    """
    steps: list[tuple[Point, ...]] = [(points[0],)]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        ends = []
        for other in (before, after):
            length = math.dist(corner, other)
            part = min(radius / length, 0.5) if length else 0.0
            ends.append(tuple(c + part * (o - c) for c, o in zip(corner, other, strict=True)))
        straight = math.isclose(
            math.dist(before, corner) + math.dist(corner, after),
            math.dist(before, after),
            rel_tol=1e-6,
        )
        if radius and not straight:
            steps += [(ends[0],), (corner, ends[1])]  # type: ignore[list-item]
        else:
            steps.append((corner,))
    steps.append((points[-1],))
    return steps


def _stroked(colour: str, look: Stroke) -> str:
    dashes, width = look.get("dashes"), number(look.get("width", 1.0))
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'stroke="{colour}" stroke-width="{width}"{dashed}'


class Canvas:
    """Collects shapes and gives them as one SVG element."""

    def __init__(self, title: str = "") -> None:
        self._title = title
        self._parts: list[str] = []

    @contextmanager
    def group(self, name: str, tip: str = "", **data: object) -> Iterator[None]:
        """Put what is drawn meanwhile into a group of the class ``name`` with data attributes."""
        values = "".join(f' data-{key}="{escaped(str(value))}"' for key, value in data.items())
        title = f"<title>{escaped(tip)}</title>" if tip else ""
        self._parts.append(f'<g class="{name}"{values}>{title}')
        yield
        self._parts.append("</g>")

    def rectangle(
        self, box: Rectangle, fill: str, *, tip: str = "", **look: Unpack[Outline]
    ) -> None:
        """Draw (x, y, width, height); ``tip`` shows when the mouse rests on it."""
        x, y, width, height = map(number, box)
        radius, stroke = look.get("radius"), look.get("stroke")
        opacity, thick = look.get("opacity", 1.0), look.get("thick", THICK)
        said = f' rx="{number(radius)}"' if radius else ""
        said += f' stroke="{stroke}" stroke-width="{number(thick)}"' if stroke else ""
        said += f' fill-opacity="{number(opacity)}"' if opacity < 1 else ""
        end = f"><title>{escaped(tip)}</title></rect>" if tip else "/>"
        self._parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}"{said}{end}'
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

    def line(self, start: Point, end: Point, stroke: str, **look: Unpack[Stroke]) -> None:
        """Draw a line from ``start`` to ``end``."""
        self._parts.append(
            f'<line x1="{number(start[0])}" y1="{number(start[1])}" x2="{number(end[0])}" '
            f'y2="{number(end[1])}" {_stroked(stroke, look)}/>'
        )

    def way(self, points: Sequence[Point], stroke: str, **look: Unpack[Stroke]) -> None:
        """Draw a line through points, its corners rounded where there is a ``radius``."""
        start, *steps = rounded(points, look.get("radius", 0.0))
        path = f"M{_place(start[0])}" + "".join(
            f"{'LQ'[len(step) - 1]}{' '.join(map(_place, step))}" for step in steps
        )
        self._parts.append(f'<path d="{path}" fill="none" {_stroked(stroke, look)}/>')

    def polygon(self, corners: Sequence[Point], fill: str) -> None:
        """Fill the area between corners."""
        places = "L".join(map(_place, corners))
        self._parts.append(f'<path d="M{places}Z" fill="{fill}"/>')

    def text(self, at: Point, text: str, *, tip: str = "", **look: Unpack[Font]) -> None:
        """Write ``text`` with its baseline at ``at``."""
        anchor = look.get("anchor", "start")
        said = f' text-anchor="{anchor}"' if anchor != "start" else ""
        said += ' font-weight="bold"' if look.get("bold") else ""
        shown_on_rest = f"<title>{escaped(tip)}</title>" if tip else ""
        self._parts.append(
            f'<text x="{number(at[0])}" y="{number(at[1])}" font-size="{number(look["size"])}" '
            f'fill="{look["fill"]}"{said}>{shown_on_rest}{escaped(text)}</text>'
        )

    def document(self, width: float, height: float) -> str:
        """Return the SVG element."""
        across, down = number(math.ceil(width)), number(math.ceil(height))
        title = f"<title>{escaped(self._title)}</title>" if self._title else ""
        role = 'role="img" ' if title else ""  # without a name its texts are what is read
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{across}" height="{down}" '
            f'viewBox="0 0 {across} {down}" {role}'
            f'font-family="{FONT}">{title}\n' + "\n".join(self._parts) + "\n</svg>\n"
        )


def resized(drawing: str, width: float) -> str:
    """Return an SVG element that is shown so many pixels wide, in proportion."""

    def scaled(size: re.Match[str]) -> str:
        return f'width="{number(width)}" height="{number(float(size[2]) * width / float(size[1]))}"'

    return re.sub(r'width="([\d.]+)" height="([\d.]+)"', scaled, drawing, count=1)


def stacked(drawings: Sequence[str]) -> str:
    """Return SVG elements below each other as one."""
    if len(drawings) == 1:
        return drawings[0]
    top, wide, parts = 0, 0, []
    for each in drawings:
        size = re.search(r'width="(\d+)" height="(\d+)"', each)
        assert size is not None
        parts.append(each.replace("<svg ", f'<svg y="{top}" ', 1))
        wide, top = max(wide, int(size[1])), top + int(size[2])
    view = f'width="{wide}" height="{top}" viewBox="0 0 {wide} {top}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {view}>\n{"".join(parts)}</svg>\n'
