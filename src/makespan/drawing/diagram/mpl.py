"""Diagrams → matplotlib."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Unpack

from makespan.core.display import Axes
from makespan.drawing.diagram.draw import Sheet, draw
from makespan.drawing.svg import THICK, Font, Outline, Point, Rectangle, Stroke, rounded

POINTS = 72.0
ALIGN: dict[str, Literal["left", "center", "right"]] = {
    "start": "left",
    "middle": "center",
    "end": "right",
}


def draw_on(sheet: Sheet, ax: Axes) -> Axes:
    """Draw a sheet into ``ax``, as large as it fits, and return the axes."""
    ax.set_xlim(0.0, sheet.width)
    ax.set_ylim(sheet.height, 0.0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    box = ax.get_window_extent()
    points = POINTS / ax.figure.dpi
    scale = min(box.width * points / sheet.width, box.height * points / sheet.height)
    draw(sheet, _Paper(ax, scale))
    return ax


class _Paper:
    """A surface on axes whose unit is ``scale`` points."""

    def __init__(self, ax: Axes, scale: float) -> None:
        self.ax, self.scale = ax, scale
        self.layer = 1.0

    @contextmanager
    def group(self, name: str, tip: str = "", **data: object) -> Iterator[None]:
        yield

    def _add(self, patch: Any) -> None:
        self.layer += 1e-4  # what is drawn later lies above
        patch.set_zorder(self.layer)
        self.ax.add_patch(patch)

    def rectangle(self, box: Rectangle, fill: str, **look: Unpack[Outline]) -> None:
        from matplotlib.patches import FancyBboxPatch, Rectangle as Plain

        x, y, width, height = box
        stroke, radius = look.get("stroke", ""), look.get("radius", 0.0)
        style: dict[str, Any] = {
            "facecolor": fill,
            "edgecolor": stroke or "none",
            "linewidth": look.get("thick", THICK) * self.scale if stroke else 0.0,
            "alpha": look.get("opacity", 1.0),
        }
        if not radius:
            self._add(Plain((x, y), width, height, **style))
            return
        corners = f"round,pad=0,rounding_size={radius}"
        self._add(FancyBboxPatch((x, y), width, height, boxstyle=corners, **style))

    def way(self, points: Sequence[Point], stroke: str, **look: Unpack[Stroke]) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        steps = rounded(points, look.get("radius", 0.0))
        codes = [Path.MOVETO]
        for step in steps[1:]:
            codes += [Path.LINETO] if len(step) == 1 else [Path.CURVE3] * 2
        path = Path([point for step in steps for point in step], codes)
        dashed = tuple(float(part) for part in look.get("dashes", "").split())
        style = {
            "edgecolor": stroke,
            "linewidth": look.get("width", 1.0) * self.scale,
            "linestyle": (0, dashed) if dashed else "-",
        }
        self._add(PathPatch(path, fill=False, capstyle="butt", **style))

    def polygon(self, corners: Sequence[Point], fill: str) -> None:
        from matplotlib.patches import Polygon

        self._add(Polygon(corners, facecolor=fill, edgecolor="none"))

    def text(self, at: Point, text: str, **look: Unpack[Font]) -> None:
        self.layer += 1e-4
        self.ax.text(
            *at,
            text,
            fontsize=look["size"] * self.scale,
            color=look["fill"],
            ha=ALIGN[look.get("anchor", "start")],
            va="baseline",
            fontweight="bold" if look.get("bold") else "normal",
            zorder=self.layer,
            clip_on=False,
            parse_math=False,
        )
