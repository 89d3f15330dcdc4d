"""Layout → matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from makespan.core.display import Axes
from makespan.core.picture import Picture
from makespan.drawing.colours import FAINT_INK, GRID, IDLE, INK, LIMIT, PAPER, Paint, ink_on
from makespan.drawing.diagram.mpl import ALIGN
from makespan.drawing.gantt.layout import MAX_ROWS, Layout, lay_out
from makespan.drawing.gantt.merge import rows_shown
from makespan.drawing.text import elided, text_width

SIZE, SMALL, LANE, MARK = 9.0, 7.5, 7.0, 8.0
TIER = 12.0
WIDEST_NAME, WIDEST_NOTE = 140.0, 130.0
POINTS = 72.0
FIGURE_WIDTH = 11.0
WIDTH = FIGURE_WIDTH * POINTS
BELOW = 28.0
LOWEST_NAMED_LANE = 8.0
MIN_STEP = 6.0


@dataclass(frozen=True, slots=True)
class FigureFrame:
    """A figure in which a picture is at ease: its size in inches, its margins as fractions."""

    size: tuple[float, float]
    margins: dict[str, float]

    @classmethod
    def of(
        cls,
        picture: Picture,
        *,
        max_rows: int = MAX_ROWS,
        legend: bool = True,
        inches: float = FIGURE_WIDTH,
    ) -> FigureFrame:
        """Return the frame that names, notes, title, marks and legend of a picture need."""
        width = inches * POINTS
        shown = rows_shown(picture, max_rows)
        names = _widest([elided(row.label, SIZE, WIDEST_NAME) for row in shown])
        notes = _widest([elided(row.note, SIZE, WIDEST_NOTE) for row in shown])
        layout = lay_out(picture, width=0.75 * width, max_rows=max_rows)
        rows = max(layout.height, 2 * SIZE)
        left = names + _lane_names_width(layout) + 20.0
        above = 12.0 + TIER * layout.tiers + 18.0 * bool(layout.title)
        words = layout.words(legend=legend)
        rows_of_words = math.ceil(len(words) / _columns(words, 0.75 * width)) if words else 0
        below = 44.0 + 10.0 * bool(words) + 13.0 * rows_of_words
        height = rows + above + below
        return cls(
            (inches, height / POINTS),
            {
                "left": left / width,
                "right": 1.0 - (notes + 12.0) / width,
                "top": 1.0 - above / height,
                "bottom": below / height,
            },
        )


def _widest(texts: list[str]) -> float:
    return max((text_width(text, SIZE) for text in texts), default=0.0)


def gantt(picture: Picture, ax: Axes, *, max_rows: int = MAX_ROWS, legend: bool = True) -> Axes:
    """Draw a picture into ``ax`` and return it; times are seconds on its x axis."""
    width, height = _points(ax)
    layout = lay_out(
        picture, width=width, height=height, size=SMALL, mark_size=MARK, max_rows=max_rows
    )
    ax.set_xlim(0.0, layout.horizon)
    ax.set_ylim(layout.height or 1.0, 0.0)
    _lanes(ax, layout)
    _bars(ax, layout)
    _names(ax, layout)
    _marks(ax, layout)
    ax.set_xticks([tick.time for tick in layout.ticks], [tick.label for tick in layout.ticks])
    ax.set_xlabel(f"time ({layout.unit})", fontsize=SIZE, loc="right")
    ax.tick_params(axis="x", labelsize=SIZE)
    ax.grid(True, axis="x", color=GRID, linewidth=0.5)
    ax.set_axisbelow(True)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    if layout.title:
        title, size = _title(layout.title, _title_room(ax, width))
        pad = 6 + TIER * layout.tiers
        ax.set_title(title, fontsize=size, loc="left", pad=pad, parse_math=False)
    words = layout.words(legend=legend)
    if words and _room(ax)[1] > BELOW + 13.0 * math.ceil(len(words) / _columns(words, width)):
        _legend(ax, words)
    return ax


def _points(ax: Axes) -> tuple[float, float]:
    """Return the width and height of the axes in points."""
    box = ax.get_window_extent()
    scale = POINTS / ax.figure.dpi
    return max(box.width * scale, 1.0), max(box.height * scale, 1.0)


def _title(title: str, width: float) -> tuple[str, float]:
    """Return a title with its font size, in two lines where it is too long for the axes."""
    wanted = SIZE + 2
    size = max(SMALL, min(wanted, wanted * width / text_width(title, wanted)))
    head, sign, tail = title.partition(": ")
    if sign and text_width(title, size) > width:
        title = f"{head}:\n{tail}"
    return title, size


def _title_room(ax: Axes, width: float) -> float:
    """Return how wide a title may be: a layout engine makes axes narrower later."""
    if ax.figure.get_layout_engine() is not None:
        return 0.8 * width
    return width + min(_room(ax)[0], WIDEST_NOTE) / 2


def _room(ax: Axes) -> tuple[float, float]:
    """Return the points to the next axes at the right, and to those below and their titles.

    Where a layout engine makes room, there is enough.
    """
    figure = ax.figure
    if figure.get_layout_engine() is not None:
        return math.inf, math.inf
    width, height = (POINTS * inches for inches in figure.get_figure(root=True).get_size_inches())
    here, right, below = ax.get_position(), math.inf, math.inf
    for other in figure.axes:
        there = other.get_position()
        if there.x0 >= here.x1 and there.y0 < here.y1 and here.y0 < there.y1:
            right = min(right, width * (there.x0 - here.x1))
        if there.y1 <= here.y0 and there.x0 < here.x1 and here.x0 < there.x1:
            below = min(below, height * (here.y0 - there.y1) - 2 * TIER)
    return right, below


def _lanes(ax: Axes, layout: Layout) -> None:
    lanes = [lane for row in layout.rows for lane in row.lanes]
    tops = np.array([lane.top for lane in lanes])
    heights = np.array([lane.height for lane in lanes])
    starts = np.zeros(len(lanes))
    _rectangles(ax, starts, starts + layout.busy_until, tops, heights, facecolors=IDLE, zorder=0.4)


def _bars(ax: Axes, layout: Layout) -> None:
    from matplotlib.colors import to_rgba

    blocks = layout.blocks
    for paint in np.unique(blocks.role).tolist():
        mine = blocks.role == paint
        word, fill = layout.paints[paint]
        colours = np.tile(to_rgba(fill), (int(mine.sum()), 1))
        colours[:, 3] = np.maximum(0.2, blocks.covered[mine])
        wide = blocks.end[mine] - blocks.start[mine] > 0.003 * layout.horizon
        parted = wide & (blocks.activity[mine] >= 0)
        _rectangles(
            ax,
            blocks.start[mine],
            blocks.end[mine],
            layout.top[mine],
            layout.height_of[mine],
            facecolors=colours,
            edgecolors=np.where(parted[:, None], to_rgba(PAPER), colours),
            linewidths=np.where(parted, 0.5, 0.15),
            zorder=2,
            label=word,
        )
    for text in layout.texts:
        ax.text(
            text.time,
            text.middle,
            text.text,
            fontsize=SMALL,
            color=ink_on(text.fill),
            ha="center",
            va="center_baseline",
            zorder=3,
            clip_on=True,
            parse_math=False,
        )


def _rectangles(ax: Axes, start: Any, end: Any, top: Any, height: Any, **look: Any) -> None:
    """Draw rectangles as one collection."""
    from matplotlib.collections import PolyCollection

    corners = np.empty((len(start), 4, 2))
    corners[:, 0, 0] = corners[:, 1, 0] = start
    corners[:, 2, 0] = corners[:, 3, 0] = end
    corners[:, 0, 1] = corners[:, 3, 1] = top
    corners[:, 1, 1] = corners[:, 2, 1] = top + height
    ax.add_collection(PolyCollection(list(corners), **look), autolim=False)


def _names(ax: Axes, layout: Layout) -> None:
    """Write the machines on the left with their lanes, and their notes on the right."""
    size = layout.name_size(SIZE)
    middles = [row.top + row.height / 2 for row in layout.rows]
    names = [elided(row.label, size, WIDEST_NAME) for row in layout.rows]
    every = math.ceil(MIN_STEP * len(names) / max(layout.height, 1.0)) or 1
    ax.set_yticks(middles[::every], names[::every], parse_math=False, fontsize=size)
    ax.tick_params(axis="y", length=0, pad=_lane_names_width(layout) + 10)
    if layout.lane_height >= LOWEST_NAMED_LANE:
        for row in layout.rows:
            for lane in row.lanes:
                middle = lane.top + lane.height / 2
                _beside(ax, middle, lane.label, right=False, offset=-4, size=LANE, align="right")
    noted = max((text_width(row.note, size) for row in layout.rows), default=0.0)
    left = max((text_width(name, size) for name in names), default=0.0) + _lane_names_width(layout)
    roomy = _room(ax)[0] > min(noted, WIDEST_NOTE) + left + 20.0
    for row, middle in list(zip(layout.rows, middles, strict=True))[::every]:
        if row.note and roomy:
            note = elided(row.note, size, WIDEST_NOTE)
            _beside(ax, middle, note, right=True, offset=5, size=size, align="left")


def _lane_names_width(layout: Layout) -> float:
    """Return the room for the names of lanes; none where the lanes are too low for names."""
    if layout.lane_height < LOWEST_NAMED_LANE:
        return 0.0
    labels = (lane.label for row in layout.rows for lane in row.lanes)
    return max((text_width(label, LANE) for label in labels), default=0.0)


def _beside(
    ax: Axes,
    y: float,
    text: str,
    *,
    right: bool,
    offset: float,
    size: float,
    align: Literal["left", "right"],
) -> None:
    """Write beside the axes, ``offset`` points from their left or right edge."""
    ax.annotate(
        text,
        (1.0 if right else 0.0, y),
        xycoords=("axes fraction", "data"),
        xytext=(offset, 0.0),
        textcoords="offset points",
        ha=align,
        va="center_baseline",
        fontsize=size,
        color=FAINT_INK,
        annotation_clip=False,
        parse_math=False,
    )


def _marks(ax: Axes, layout: Layout) -> None:
    width, height = _points(ax)
    scale = width / layout.horizon
    for mark in layout.marks:
        colour = LIMIT if mark.limit else INK
        if not mark.beyond:
            style = "--" if mark.limit else "-"
            top = 1.0 + (10.0 + TIER * mark.tier) / height
            line = ax.axvline(mark.time, 0.0, top, color=colour, linewidth=1.3, linestyle=style)
            line.set(zorder=4, clip_on=False)
        time = min(mark.time, layout.horizon)
        ax.annotate(
            mark.label,
            (time, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(mark.at - time * scale, 3 + TIER * mark.tier),
            textcoords="offset points",
            ha=ALIGN[mark.anchor],
            va="bottom",
            fontsize=MARK,
            fontweight="bold",
            color=colour,
            annotation_clip=False,
            parse_math=False,
        )


def _legend(ax: Axes, words: Sequence[Paint]) -> None:
    from matplotlib.patches import Patch

    width, height = _points(ax)
    columns = _columns(words, width)
    handles = [Patch(facecolor=fill, label=elided(word, SIZE, WIDEST_NAME)) for word, fill in words]
    found = ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, -BELOW / height),
        ncols=columns,
        frameon=False,
        fontsize=SIZE,
        handlelength=1.2,
    )
    for text in found.get_texts():
        text.set_parse_math(False)


def _columns(words: Sequence[Paint], width: float) -> int:
    """Return how many words of a legend stand beside each other in ``width`` points."""
    widest = max(text_width(elided(word, SIZE, WIDEST_NAME), SIZE) for word, _ in words)
    return max(1, min(len(words), int(width / (widest + 30.0))))
