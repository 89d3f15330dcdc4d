"""Points in groups, with the regions where each group prevails → SVG, or matplotlib axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from makespan.core.display import Axes
from makespan.core.numeric.arrays import Floats, Integers
from makespan.drawing.colours import CURVES, LIGHT, ON_PAGE
from makespan.drawing.render import Part
from makespan.drawing.svg import Canvas
from makespan.drawing.text import elided, in_rows, text_width

WIDTH, HEIGHT, PADDING, LINE, SIZE = 760.0, 480.0, 14.0, 17.0, 11.0
INCHES = 5.4  # of a figure
PALE, AROUND = 0.16, 0.06  # the opacity of regions; the room around the points, as a share
NONE = LIGHT["faint"]
MARK = "#B3261E"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scatter:
    """Points of a plane.

    ``group`` is that of each point, -1 for none; ``cells`` are the groups of a grid over the
    ``frame`` (left, bottom, right, top), its rows from the bottom; ``marks`` stand out.
    """

    title: str
    across: str
    up: str
    groups: Sequence[str]
    nothing: str  # what the group -1 means
    points: Floats  # n × 2
    group: Integers
    labels: Sequence[str]
    frame: tuple[float, float, float, float]
    cells: Integers
    marks: Sequence[tuple[float, float, str]] = ()

    @property
    def legend(self) -> list[tuple[str, str]]:
        """The groups that occur, with their colours."""
        used = [at for at in range(len(self.groups)) if (self.group == at).any()]
        words = [(self.groups[at], colour_of(at)) for at in used]
        return words + ([(self.nothing, NONE)] if (self.group < 0).any() else [])

    @property
    def part(self) -> Part:
        """The points as a part of a figure."""
        return INCHES, partial(scatter_axes, self)


def colour_of(group: int) -> str:
    """Return the colour of a group; grey for none."""
    return NONE if group < 0 else CURVES[group % len(CURVES)]


def frame_of(points: Floats) -> tuple[float, float, float, float]:
    """Return a frame around points.

    >>> frame_of(np.array([[0.0, 1.0], [1.0, 1.0]]))
    (-0.06, 0.5, 1.06, 1.5)
    """
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.where(high > low, AROUND * (high - low), 0.5)
    left, bottom = (low - room).tolist()
    right, top = (high + room).tolist()
    return left, bottom, right, top


def scatter_svg(scatter: Scatter, *, width: float = WIDTH, on_page: bool = False) -> str:
    """Return points as an SVG element; each is a group ``point`` that says what it is."""
    colours = ON_PAGE if on_page else LIGHT
    left, bottom, right, top = scatter.frame
    across, up = (width - 2 * PADDING) / (right - left), HEIGHT / (top - bottom)
    head = PADDING + LINE * 1.6

    def at(x: float, y: float) -> tuple[float, float]:
        return PADDING + (x - left) * across, head + (top - y) * up

    words = scatter.legend + ([("found by an adversary", MARK)] if scatter.marks else [])
    places = in_rows((30.0 + text_width(word, SIZE) for word, _ in words), PADDING, width - PADDING)
    below = head + HEIGHT + LINE * 2.4
    canvas = Canvas(scatter.title)
    height = below + LINE * (1 + max((row for row, _ in places), default=0))
    canvas.rectangle((0, 0, width, height), colours["paper"])
    said = elided(scatter.up, SIZE, width - 2 * PADDING)
    canvas.text((PADDING, PADDING + SIZE), said, size=SIZE, fill=colours["faint"])
    rows, columns = scatter.cells.shape
    wide, high = (width - 2 * PADDING) / columns, HEIGHT / rows
    for group in np.unique(scatter.cells).tolist():
        some = np.argwhere(scatter.cells == group).tolist()
        boxes = [(PADDING + c * wide, head + (rows - 1 - r) * high, wide, high) for r, c in some]
        canvas.rectangles(boxes, colour_of(group), opacity=PALE)
    for (x, y), group, label in zip(
        scatter.points.tolist(), scatter.group.tolist(), scatter.labels, strict=True
    ):
        (px, py), colour = at(x, y), colour_of(group)
        with canvas.group("point", label):
            box = (px - 3.5, py - 3.5, 7, 7)
            canvas.rectangle(box, colour, stroke=colours["paper"], thick=0.7, radius=3.5)
    for x, y, label in scatter.marks:
        px, py = at(x, y)
        canvas.polygon([(px, py - 7), (px + 6, py + 5), (px - 6, py + 5)], MARK)
        anchor = "end" if px > width / 2 else "start"
        beside = (px + (-9 if anchor == "end" else 9), py + 4)
        canvas.text(beside, label, size=10.0, fill=colours["ink"], anchor=anchor, bold=True)
    said = elided(scatter.across, SIZE, width - 2 * PADDING)
    end = (width - PADDING, head + HEIGHT + SIZE + 4)
    canvas.text(end, said, size=SIZE, fill=colours["faint"], anchor="end")
    for (row, x), (word, colour) in zip(places, words, strict=True):
        canvas.rectangle((x, below + LINE * row - 9, 10, 10), colour, radius=5.0)
        canvas.text((x + 15, below + LINE * row), word, size=SIZE, fill=colours["ink"])
    return canvas.document(width, height)


def scatter_axes(scatter: Scatter, ax: Axes) -> Axes:
    """Draw points into matplotlib axes and return them."""
    from matplotlib.colors import ListedColormap

    left, bottom, right, top = scatter.frame
    found = np.unique(scatter.cells)
    painted = np.searchsorted(found, scatter.cells)
    ax.imshow(
        painted, origin="lower", extent=(left, right, bottom, top), aspect="auto", alpha=PALE,
        cmap=ListedColormap([colour_of(group) for group in found.tolist()]), vmin=-0.5,
        vmax=len(found) - 0.5, interpolation="nearest",
    )  # fmt: skip
    names = dict(enumerate(scatter.groups)) | {-1: scatter.nothing}
    for group in [*range(len(scatter.groups)), -1]:
        some = scatter.points[scatter.group == group]
        if len(some):
            look: dict[str, Any] = {"s": 20, "edgecolors": "white", "linewidths": 0.4}
            ax.scatter(*some.T, label=names[group], color=colour_of(group), **look)
    for number, (x, y, label) in enumerate(scatter.marks):
        said = "" if number else "found by an adversary"
        ax.scatter([x], [y], marker="^", s=60, color=MARK, label=said)
        side, away = ("right", -7) if x > (left + right) / 2 else ("left", 7)
        ax.annotate(
            label, (x, y), (away, -3), textcoords="offset points", ha=side, fontsize=8,
            parse_math=False,
        )  # fmt: skip
    ax.set(xlim=(left, right), ylim=(bottom, top), xticks=[], yticks=[])
    ax.set_xlabel(scatter.across, parse_math=False)
    ax.set_ylabel(scatter.up, parse_math=False)
    ax.set_title(scatter.title, loc="left", fontsize=11, parse_math=False)
    for entry in ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0)).get_texts():
        entry.set_parse_math(False)
    return ax
