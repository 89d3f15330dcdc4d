"""Picture → places: what is drawn where, for any backend.

Horizontally everything is in seconds; vertically, and for texts, in units of the backend (pixels,
points), measured down from the top of the first row.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from makespan.core.picture import Bars, Groups, Picture, Role, Row
from makespan.drawing.colours import IDLE, MOST_WORDS, Paint, legend_of, paints
from makespan.drawing.gantt.marks import PlacedMark, combined, horizon, placed, tracks
from makespan.drawing.gantt.merge import Blocks, crowd, merged, rows_shown
from makespan.drawing.text import Tick, text_width, ticks, unit_of, without_hashes

MAX_ROWS = 60
MAX_BLOCKS = 20_000
RESOLUTION = 1.0 / 4000.0
TALLEST_LANE, LOWEST_LANE, NATURAL_HEIGHT = 20.0, 6.0, 620.0
BETWEEN_ROWS = 0.4
LANE_FILLED = 0.92
TEXT_FILLS = 0.78
MAX_CROWDED = 4.0


@dataclass(frozen=True, slots=True)
class PlacedLane:
    label: str
    top: float
    height: float


@dataclass(frozen=True, slots=True)
class PlacedRow:
    label: str
    note: str
    top: float
    height: float
    lanes: tuple[PlacedLane, ...]


@dataclass(frozen=True, slots=True)
class BarText:
    """A text in the middle of a bar."""

    text: str
    time: float
    middle: float
    fill: str
    whole: str  # what it is short for


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layout:
    """A picture with everything in its place."""

    title: str
    rows: tuple[PlacedRow, ...]  # those shown
    hidden: int  # how many rows there are beyond them
    blocks: Blocks  # bars and merged bars of the rows shown; a ``role`` is an index of ``paints``
    top: NDArray[np.float64]  # of each block, as ``height_of``
    height_of: NDArray[np.float64]
    texts: tuple[BarText, ...]  # those on bars that have room for them
    marks: tuple[PlacedMark, ...]  # the vertical lines
    ticks: tuple[Tick, ...]  # the numbers on the axis
    paints: tuple[Paint, ...]  # words and colours: all
    legend: tuple[Paint, ...]  # those for the legend
    unit: str  # of the axis and the marks: ``s``, or ``ms`` or ``µs`` for plans that are so short
    busy_until: float  # the last end of any bar, seconds
    horizon: float  # the time at the right edge, seconds
    height: float  # from the top of the first row to the bottom of the last

    @property
    def tiers(self) -> int:
        """How many lines of marks' labels there are above the rows."""
        return max((mark.tier + 1 for mark in self.marks), default=0)

    @property
    def lane_height(self) -> float:
        """The height of the lowest lane."""
        return min((lane.height for row in self.rows for lane in row.lanes), default=0.0)

    def name_size(self, most: float) -> float:
        """Return the font size for the names of rows, ``most`` where the rows are high enough."""
        return min(most, max(MAX_CROWDED, 0.75 * (self.height / max(1, len(self.rows)))))

    def words(self, *, legend: bool) -> tuple[Paint, ...]:
        """The words of the legend with their colours; none where there is nothing to explain."""
        return (*self.legend, ("idle", IDLE)) if legend and self.legend else ()


def lay_out(
    picture: Picture,
    *,
    width: float,
    height: float | None = None,
    size: float = 10.0,
    mark_size: float = 10.0,
    max_rows: int = MAX_ROWS,
    margins: tuple[float, float] = (0.0, 0.0),
) -> Layout:
    """Place everything in a picture, whose rows are ``height`` units high; None: as much as they
    need.

    From time 0 to the right edge there are ``width`` units; marks' labels may stand out by the
    ``margins`` to the left and to the right. Beyond ``max_rows``, rows are counted. Complexity: O(n
    log n) for n bars.
    """
    shown = rows_shown(picture, max_rows)
    count = min(max_rows, len(picture.rows))
    last_end = float(picture.bars.end.max(initial=0.0))
    end = horizon(last_end, picture.marks)
    unit, by = unit_of(last_end)
    bars = picture.bars.take(picture.bars.row < count)
    groups = picture.groups
    if groups is not None:
        own = groups.of[bars.activity]
        bars = replace(bars, role=bars.role + len(Role) * (own.astype(np.int64) + 1))
    stride = max((len(row.lanes) for row in shown), default=1) or 1
    track = tracks(bars, 1e-9 * end)
    place = bars.row * stride + bars.lane
    most = np.zeros(len(shown) * stride, dtype=np.int64)
    np.maximum.at(most, place, track)
    rows = _placed_rows(shown, most.reshape(-1, stride) + 1, height)
    blocks, top, thickness = _placed_blocks(
        bars, rows, track=track, most=most, stride=stride, end=end, crowd=crowd(picture, count, end)
    )
    role, group = blocks.role % len(Role), blocks.role // len(Role)
    blocks = replace(blocks, role=np.where(group > 0, len(Role) - 1 + group, role))
    painted = paints(groups)
    marks = placed(
        combined(picture.marks, end, by), width / end, mark_size, -margins[0], width + margins[1]
    )
    return Layout(
        title=picture.title,
        rows=rows,
        hidden=len(picture.rows) - count,
        blocks=blocks,
        top=top,
        height_of=thickness,
        texts=_texts(
            picture,
            [row.label for row in shown],
            blocks,
            role,
            colours=[colour for _, colour in painted],
            top=top,
            thickness=thickness,
            room=(blocks.end / end - blocks.start / end) * width,
            size=size,
            lines=[mark.time for mark in marks if not mark.beyond],
        ),
        marks=marks,
        ticks=tuple(replace(t, time=t.time / by) for t in ticks(end * by, width / (size * 8))),
        paints=tuple(painted),
        legend=_legend(painted, np.unique(blocks.role), groups),
        unit=unit,
        busy_until=last_end,
        horizon=end,
        height=rows[-1].top + rows[-1].height if rows else 0.0,
    )


def _legend(
    painted: Sequence[Paint], used: NDArray[np.int64], groups: Groups | None
) -> tuple[Paint, ...]:
    """Return the colours that occur; groups without an order only while they are few."""
    roles = [painted[code] for code in used[used < len(Role)].tolist()]
    few = groups is not None and (groups.ordered or len(used) - len(roles) <= MOST_WORDS)
    return (*(legend_of(groups) if groups is not None and few else ()), *roles)


def _placed_rows(
    rows: Sequence[Row], tracks_of: NDArray[np.int64], height: float | None
) -> tuple[PlacedRow, ...]:
    """Stack the rows; a lane with several tracks is taller than others."""
    weights = [
        [float(tracks_of[index, lane]) for lane in range(max(1, len(row.lanes)))]
        for index, row in enumerate(rows)
    ]
    total = sum(map(sum, weights)) + BETWEEN_ROWS * len(rows)
    unit = _natural(total) if height is None else height / max(total, 1.0)
    placed_rows, top = [], 0.0
    for row, weight in zip(rows, weights, strict=True):
        lanes, lane_top = [], top + unit * BETWEEN_ROWS / 2
        for label, part in zip(row.lanes or ("",), weight, strict=True):
            lanes.append(PlacedLane(label, lane_top, unit * part * LANE_FILLED))
            lane_top += unit * part
        bottom = lane_top + unit * BETWEEN_ROWS / 2
        placed_rows.append(PlacedRow(row.label, row.note, top, bottom - top, tuple(lanes)))
        top = bottom
    return tuple(placed_rows)


def natural_lane(rows: Sequence[Row]) -> float:
    """Return about how high a lane is where there is no height to keep to."""
    return _natural(sum(max(1, len(row.lanes)) + BETWEEN_ROWS for row in rows)) * LANE_FILLED


def _natural(total: float) -> float:
    return max(LOWEST_LANE, min(TALLEST_LANE, NATURAL_HEIGHT / max(total, 1.0)))


def _placed_blocks(
    bars: Bars,
    rows: Sequence[PlacedRow],
    *,
    track: NDArray[np.int64],
    most: NDArray[np.int64],
    stride: int,
    end: float,
    crowd: Blocks | None,
) -> tuple[Blocks, NDArray[np.float64], NDArray[np.float64]]:
    """Merge the bars track by track, and return the blocks with their tops and heights."""
    depth = int(most.max(initial=0)) + 1
    on_tracks = replace(bars, lane=bars.lane * depth + track)
    blocks = merged(on_tracks, RESOLUTION * end, MAX_BLOCKS)
    lane, layer = np.divmod(blocks.lane, depth)
    lane_top, lane_height = np.zeros(len(most)), np.zeros(len(most))
    for index, row in enumerate(rows):
        for position, placed_lane in enumerate(row.lanes):
            lane_top[index * stride + position] = placed_lane.top
            lane_height[index * stride + position] = placed_lane.height
    if crowd is not None:
        blocks, lane = Blocks.concatenate([blocks, crowd]), np.append(lane, crowd.lane)
        layer = np.append(layer, np.zeros(len(crowd), dtype=np.int64))
    place = blocks.row * stride + lane
    thickness = lane_height[place] / (most[place] + 1)
    return replace(blocks, lane=lane), lane_top[place] + layer * thickness, thickness


def _texts(
    picture: Picture,
    names: Sequence[str],
    blocks: Blocks,
    roles: NDArray[np.integer[Any]],
    *,
    colours: Sequence[str],
    top: NDArray[np.float64],
    thickness: NDArray[np.float64],
    room: NDArray[np.float64],
    size: float,
    lines: Sequence[float],
) -> tuple[BarText, ...]:
    """Return the texts that fit on their bars; a bar does not repeat the name of its row.

    None stands where one of the ``lines`` passes, if it has room beside it.
    """
    if not len(picture.labels):
        return ()
    roomy = (blocks.activity >= 0) & (room > size) & (thickness * TEXT_FILLS >= size * 0.85)
    found, rows = [], np.flatnonzero(roomy).tolist()
    bare = without_hashes([picture.labels[activity] for activity in blocks.activity[rows].tolist()])
    for index, shorter in zip(rows, bare, strict=True):
        activity, name = int(blocks.activity[index]), names[int(blocks.row[index])]
        texts = [shorter]
        fuller = picture.fuller.get(Role(int(roles[index])))
        if fuller is not None:
            texts.insert(0, fuller[activity])
        fits = (text for text in texts if text_width(text, size) + 4.0 <= room[index])
        text = next(fits, "")
        if text and text != name:
            middle = float(top[index] + thickness[index] / 2)
            start, stop = float(blocks.start[index]), float(blocks.end[index])
            across = (text_width(text, size) + 4.0) / room[index] * (stop - start)
            time = _beside(lines, start, stop, float(across))
            fill, whole = colours[int(blocks.role[index])], picture.labels[activity]
            found.append(BarText(text, time, middle, fill, whole if text == shorter else text))
    return tuple(found)


def _beside(lines: Sequence[float], start: float, end: float, across: float) -> float:
    """Return the middle of the widest part of a bar that no line cuts, or that of the bar.

    >>> _beside([7.0], 0.0, 10.0, 5.0), _beside([5.0], 0.0, 10.0, 8.0)
    (3.5, 5.0)
    """
    middle = (start + end) / 2
    if not any(abs(line - middle) < across / 2 for line in lines):
        return middle
    cuts = [start, *sorted(line for line in lines if start < line < end), end]
    low, high = max(pairwise(cuts), key=lambda part: part[1] - part[0])
    return (low + high) / 2 if high - low >= across else middle
