"""Methods over many problems as bars: how often each was within so much of the best."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from makespan.drawing.colours import FAINT_INK, GRID, INK, PAPER
from makespan.drawing.comparison.ranking import BAR, LINE, PADDING, SIZE, TITLE, WIDEST_NAME
from makespan.drawing.figure import Part
from makespan.drawing.svg import Canvas
from makespan.drawing.text import elided, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHADES = ("#08306B", "#08519C", "#2171B5", "#4292C6", "#6BAED6", "#9ECAE1", "#C6DBEF")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How often methods were near the best.

    Parameters
    ----------
    title
        The title.
    thresholds
        Distances to the best, rising, as they are shown: ``best``, ``1 %``.
    shares
        For each method, the share of the problems on which it was within each threshold.
    """

    title: str
    thresholds: tuple[str, ...]
    shares: tuple[tuple[str, tuple[float, ...]], ...]

    @property
    def part(self) -> Part:
        """The profile as a part of a figure."""
        return 1.6 + 0.32 * len(self.shares), partial(profile_axes, self)


def profile_svg(profile: Profile, *, width: float = 900.0) -> str:
    """Return a profile as one SVG element: one bar a method, the darker the nearer to the best."""
    canvas, height = Canvas(profile.title), PADDING + TITLE + 40 + LINE * len(profile.shares) + 34
    canvas.rectangle((0, 0, width, height), PAPER)
    names = max((text_width(name, SIZE) for name, _ in profile.shares), default=0.0)
    left, right = PADDING + min(names, WIDEST_NAME) + 8, width - PADDING - 20
    at = (PADDING, PADDING + TITLE)
    canvas.text(at, elided(profile.title, TITLE, right), size=TITLE, fill=INK, bold=True)
    _legend(canvas, profile, left, PADDING + TITLE + 12)
    rows = PADDING + TITLE + 40
    bottom = rows + LINE * len(profile.shares)
    for part in range(0, 101, 20):
        x = left + (right - left) * part / 100
        canvas.line((x, rows), (x, bottom), GRID, width=0.5)
        canvas.text((x, bottom + 15), f"{part} %", size=SIZE, fill=INK, anchor="middle")
    for index, (name, shares) in enumerate(profile.shares):
        y = rows + LINE * index
        base = (left - 8, y + LINE / 2 + SIZE * 0.36)
        canvas.text(base, elided(name, SIZE, WIDEST_NAME), size=SIZE, fill=INK, anchor="end")
        begin = 0.0
        for share, shade, threshold in zip(shares, SHADES, profile.thresholds, strict=False):
            if share > begin:
                x, wide = left + (right - left) * begin, (right - left) * (share - begin)
                tip = f"{name}: {threshold}: {100 * share:.0f} %"
                canvas.rectangle((x, y + (LINE - BAR) / 2, wide, BAR), shade, tip=tip)
                begin = share
    canvas.line((left, bottom), (right, bottom), FAINT_INK)
    return canvas.document(width, height)


def _legend(canvas: Canvas, profile: Profile, left: float, top: float) -> None:
    x = left
    for threshold, shade in zip(profile.thresholds, SHADES, strict=False):
        canvas.rectangle((x, top, 11, 11), shade)
        canvas.text((x + 15, top + 10), threshold, size=SIZE, fill=INK)
        x += 15 + text_width(threshold, SIZE) + 14


def profile_axes(profile: Profile, ax: Axes) -> Axes:
    """Draw a profile into matplotlib axes and return them."""
    places = list(range(len(profile.shares)))
    begin = [0.0] * len(places)
    for index, threshold in enumerate(profile.thresholds):
        ends = [100 * shares[index] for _, shares in profile.shares]
        widths = [end - start for end, start in zip(ends, begin, strict=True)]
        ax.barh(places, widths, left=begin, height=0.65, color=SHADES[index], label=threshold)
        begin = ends
    ax.set_yticks(places, [name for name, _ in profile.shares], parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.invert_yaxis()
    ax.set_xlim(0.0, 100.0)
    ax.set_xlabel("% of the problems", loc="right")
    ax.set_title(profile.title, loc="left", pad=28.0, parse_math=False)
    columns = len(profile.thresholds)
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, frameon=False, fontsize=8)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    return ax
