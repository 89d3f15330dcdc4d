"""Layout → SVG."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from makespan.core.picture import Picture
from makespan.drawing.colours import FAINT_INK, GRID, IDLE, INK, LIMIT, PAPER, Paint, ink_on
from makespan.drawing.gantt.layout import MAX_ROWS, Layout, lay_out, natural_lane
from makespan.drawing.gantt.merge import rows_shown
from makespan.drawing.svg import Canvas, Rectangle
from makespan.drawing.text import elided, elided_apart, in_rows, short, text_width

SIZE, SMALL, MARK, LARGE = 11.0, 9.0, 10.0, 14.0
LINE = 16.0
PADDING = 12.0
WIDEST_NAME, WIDEST_NOTE = 170.0, 150.0
LOWEST_NAMED_LANE = 9.0
MAX_TIPS = 2000
SHADES = 5


def gantt_svg(
    picture: Picture, *, width: float = 1000.0, max_rows: int = MAX_ROWS, legend: bool = True
) -> str:
    """Return a picture as an SVG element of ``width`` pixels."""
    return _Drawing(picture, width, max_rows, legend).drawn()


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where the plot is on the canvas, and how wide a second is."""

    left: float
    top: float
    scale: float
    plot_width: float

    def x(self, time: float) -> float:
        return self.left + time * self.scale


def _in_rows(
    words: Sequence[Paint], left: float, right: float
) -> list[tuple[int, float, str, str]]:
    """Return row, place, word and colour of each entry of a legend."""
    shown = [(elided(name, SIZE, WIDEST_NAME), fill) for name, fill in words]
    places = in_rows((32 + text_width(word, SIZE) for word, _ in shown), left, right + 16)
    return [(*place, *entry) for place, entry in zip(places, shown, strict=True)]


class _Drawing:
    def __init__(self, picture: Picture, width: float, max_rows: int, legend: bool) -> None:
        shown = rows_shown(picture, max_rows)
        names = elided_apart([row.label for row in shown], SIZE, WIDEST_NAME)
        notes = [elided(row.note, SIZE, WIDEST_NOTE) for row in shown]
        lanes = {lane for row in shown for lane in row.lanes}
        self.lanes_named = natural_lane(shown) >= LOWEST_NAMED_LANE
        self.name_width = max((text_width(name, SIZE) for name in names), default=0.0)
        lane_width = max((text_width(lane, SMALL) + 6 for lane in lanes), default=0.0)
        note_width = max((text_width(note, SIZE) for note in notes), default=0.0)
        left = PADDING + self.name_width + 8 + lane_width * self.lanes_named
        right = note_width + 8 if note_width else 0.0
        plot_width = max(200.0, width - left - right - PADDING)
        self.layout: Layout = lay_out(
            picture,
            width=plot_width,
            size=SMALL,
            mark_size=MARK,
            max_rows=max_rows,
            margins=(left - 4, right + PADDING - 4),
        )
        self.names, self.notes = names, notes
        self.picture = picture
        self.width = left + plot_width + right + PADDING
        self.legend = _in_rows(self.layout.words(legend=legend), left, self.width - PADDING)
        header = PADDING + (LINE + 6) * bool(self.layout.title)
        header += (LINE + 4) * (max((row for row, *_ in self.legend), default=-1) + 1)
        top = header + LINE * self.layout.tiers + 2
        self.frame = _Frame(left, top, plot_width / self.layout.horizon, plot_width)
        self.canvas = Canvas(self.layout.title)

    def drawn(self) -> str:
        bottom = self.frame.top + self.layout.height
        height = bottom + 2 * LINE + 12
        self.canvas.rectangle((0, 0, self.width, height), PAPER)
        self._header()
        self._lanes()
        self._axis(bottom)
        self._bars()
        self._marks(bottom)
        return self.canvas.document(self.width, height)

    def _header(self) -> None:
        y = PADDING
        if self.layout.title:
            title = elided(self.layout.title, LARGE, self.width - 2 * PADDING)
            self.canvas.text((PADDING, y + 12), title, size=LARGE, fill=INK, bold=True)
            y += LINE + 6
        for row, x, word, fill in self.legend:
            top = y + row * (LINE + 4)
            self.canvas.rectangle((x, top + 1, 12, 10), fill, stroke=FAINT_INK)
            self.canvas.text((x + 16, top + 10), word, size=SIZE, fill=INK)

    def _lanes(self) -> None:
        frame, canvas = self.frame, self.canvas
        busy = self.layout.busy_until * frame.scale
        canvas.rectangles(
            (
                (frame.left, frame.top + lane.top, busy, lane.height)
                for row in self.layout.rows
                for lane in row.lanes
            ),
            IDLE,
        )
        size = self.layout.name_size(SIZE)
        for row, name, note in zip(self.layout.rows, self.names, self.notes, strict=True):
            middle = frame.top + row.top + row.height / 2
            tip = row.label if name != row.label else ""
            at = (PADDING + self.name_width, middle + size * 0.36)
            canvas.text(at, name, size=size, fill=INK, anchor="end", tip=tip)
            if note:
                at = (frame.left + frame.plot_width + 8, middle + size * 0.36)
                canvas.text(at, note, size=size, fill=FAINT_INK)
            for lane in row.lanes if self.lanes_named else ():
                at = (frame.left - 5, frame.top + lane.top + lane.height / 2 + SMALL * 0.35)
                canvas.text(at, lane.label, size=SMALL, fill=FAINT_INK, anchor="end")

    def _axis(self, bottom: float) -> None:
        frame, canvas = self.frame, self.canvas
        right = frame.left + frame.plot_width
        for tick in self.layout.ticks:
            x = frame.x(tick.time)
            canvas.line((x, frame.top), (x, bottom), GRID, width=0.5)
            canvas.line((x, bottom), (x, bottom + 4), FAINT_INK)
            canvas.text((x, bottom + 15), tick.label, size=SIZE, fill=INK, anchor="middle")
        canvas.line((frame.left, bottom), (right, bottom), FAINT_INK)
        word = f"time ({self.layout.unit})"
        canvas.text((right, bottom + 30), word, size=SIZE, fill=FAINT_INK, anchor="end")

    def _bars(self) -> None:
        blocks, frame = self.layout.blocks, self.frame
        left = frame.left + blocks.start * frame.scale
        wide = np.maximum((blocks.end - blocks.start) * frame.scale, 0.4)
        top = frame.top + self.layout.top
        boxes = list(
            zip(*(a.tolist() for a in (left, top, wide, self.layout.height_of)), strict=True)
        )
        shade = np.maximum(1, np.ceil(blocks.covered * SHADES - 1e-9)).astype(int).tolist()
        paints = self.layout.paints
        roles, activities = blocks.role.tolist(), blocks.activity.tolist()
        tipped = len(blocks) <= MAX_TIPS
        groups: defaultdict[tuple[int, int, bool], list[Rectangle]] = defaultdict(list)
        for index, box in enumerate(boxes):
            role, parted = roles[index], box[2] >= 3.0
            if tipped and activities[index] >= 0:
                outline = PAPER if parted else ""
                tip = self._tip(index)
                self.canvas.rectangle(box, paints[role][1], stroke=outline, tip=tip)
            else:
                groups[role, shade[index], parted and activities[index] >= 0].append(box)
        for (role, level, parted), members in sorted(groups.items()):
            self.canvas.rectangles(
                members, paints[role][1], stroke=PAPER if parted else "", opacity=level / SHADES
            )
        for text in self.layout.texts:
            at = (frame.x(text.time), frame.top + text.middle + SMALL * 0.35)
            fill = ink_on(text.fill)
            tip = text.whole if text.whole != text.text else ""
            self.canvas.text(at, text.text, size=SMALL, fill=fill, anchor="middle", tip=tip)

    def _tip(self, index: int) -> str:
        blocks = self.layout.blocks
        activity = int(blocks.activity[index])
        label = self.picture.labels[activity] if len(self.picture.labels) else ""
        return (
            f"{self.layout.rows[int(blocks.row[index])].label}: "
            f"{self.layout.paints[int(blocks.role[index])][0]} {label}, "
            f"{short(float(blocks.start[index]), 6)} to {short(float(blocks.end[index]), 6)} s"
        )

    def _marks(self, bottom: float) -> None:
        frame, canvas = self.frame, self.canvas
        for mark in self.layout.marks:
            colour = LIMIT if mark.limit else INK
            base = frame.top - 5 - LINE * mark.tier
            if not mark.beyond:
                x = frame.x(mark.time)
                dashes = "5 3" if mark.limit else ""
                canvas.line((x, base - 8), (x, bottom), colour, width=1.5, dashes=dashes)
            at = (frame.left + mark.at, base)
            canvas.text(at, mark.label, size=MARK, fill=colour, anchor=mark.anchor, bold=True)
