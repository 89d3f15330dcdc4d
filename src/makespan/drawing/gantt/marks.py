"""Labels of vertical lines, placed so that each can be read; tracks of bars that overlap."""

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from makespan.core.picture import Bars, Mark
from makespan.drawing.text import short, text_width

SAME = 1e-9
GAP = 4.0
FAR = 1.5
BOLD = 1.13
MAX_ORDERED = 4


@dataclass(frozen=True, slots=True)
class PlacedMark:
    """A line at ``time`` with its label.

    The label covers the plot's units from ``left`` to ``right``, on ``tier`` 0 (just above the
    rows) or higher; ``anchor`` (``start``, ``middle``, ``end``) is the part of it that stays in
    place should the font be wider or narrower than thought. ``beyond``: the time is to the right
    of the picture, which has no line for it.
    """

    label: str
    time: float
    limit: bool
    beyond: bool = False
    left: float = 0.0
    right: float = 0.0
    tier: int = 0
    anchor: str = "start"

    @property
    def at(self) -> float:
        """The unit of the plot where the anchor is."""
        middle = (self.left + self.right) / 2
        return {"start": self.left, "middle": middle, "end": self.right}[self.anchor]


def horizon(last_end: float, marks: Iterable[Mark]) -> float:
    """Return the time at the right edge: room for the bars and for marks not far from them."""
    near = [mark.time for mark in marks if mark.time <= FAR * last_end]
    return max([last_end, *near]) * 1.015 or 1.0


def combined(marks: Sequence[Mark], end: float, by: float = 1.0) -> list[PlacedMark]:
    """Join marks at one time into one, such as ``makespan = lower bound 28``.

    Times are written in a unit of which so many ``by`` are a second.
    """
    joined: list[PlacedMark] = []
    names: list[list[str]] = []
    for mark in marks:
        if not math.isfinite(mark.time) or mark.time < 0:
            continue
        for index, earlier in enumerate(joined):
            if abs(earlier.time - mark.time) <= SAME * max(earlier.time, mark.time):
                names[index].append(mark.label)
                joined[index] = replace(earlier, limit=earlier.limit and mark.limit)
                break
        else:
            joined.append(PlacedMark(mark.label, mark.time, mark.limit, bool(mark.time > end)))
            names.append([mark.label])
    return [
        replace(mark, label=f"{' = '.join(words)} {short(mark.time * by, 6)}{' →' * mark.beyond}")
        for mark, words in zip(joined, names, strict=True)
    ]


def placed(
    marks: Sequence[PlacedMark], scale: float, size: float, low: float, high: float
) -> tuple[PlacedMark, ...]:
    """Give each label a place where it covers no other, and if possible no line crosses it.

    Each in turn takes the first place that is free; of all orders of taking turns (where the marks
    are few), the one with the fewest crossings and the lowest labels is kept. ``scale`` is in units
    a second; labels stand between the units ``low`` and ``high``.
    """
    orders = permutations(range(len(marks))) if len(marks) <= MAX_ORDERED else [range(len(marks))]
    found = [_placed_in_turn([marks[i] for i in order], scale, size, low, high) for order in orders]
    best = min(found, key=lambda labels: (_crossings(labels, scale), sum(m.tier for m in labels)))
    return tuple(best)


def _placed_in_turn(
    marks: Sequence[PlacedMark], scale: float, size: float, low: float, high: float
) -> list[PlacedMark]:
    done: list[PlacedMark] = []
    for mark in marks:
        width = BOLD * text_width(mark.label, size)
        options = [
            replace(mark, left=left, right=left + width, tier=tier, anchor=anchor)
            for tier in range(len(marks) + 1)
            for left, anchor in _places(mark, mark.time * scale, width, low, high)
        ]
        done.append(
            next((option for option in options if _is_clear(option, done, scale)), None)
            or next(option for option in options if not _covers(option, done))
        )
    return done


def _crossings(marks: Sequence[PlacedMark], scale: float) -> int:
    """Return how many labels are crossed by a line, their own included."""
    return sum(_crosses(line, label, scale) for line in marks for label in marks)


def _places(
    mark: PlacedMark, x: float, width: float, low: float, high: float
) -> list[tuple[float, str]]:
    """Return where the label may begin: beside its line, or over it where it must."""
    if mark.beyond:
        return [(max(low, high - width), "end")]
    sides = [(x - GAP - width, "end"), (x + GAP, "start")]
    if not mark.limit:
        sides.reverse()
    fitting = [side for side in sides if low <= side[0] and side[0] + width <= high]
    return [*fitting, (max(low, min(x - width / 2, high - width)), "middle")]


def _covers(option: PlacedMark, others: Sequence[PlacedMark]) -> bool:
    return any(
        option.tier == other.tier
        and option.left < other.right + 2 * GAP
        and other.left < option.right + 2 * GAP
        for other in others
    )


def _is_clear(option: PlacedMark, others: Sequence[PlacedMark], scale: float) -> bool:
    """Whether the label covers no other, and no line crosses a label on its way up."""
    return not (
        _covers(option, others)
        or _crosses(option, option, scale)
        or any(_crosses(option, other, scale) or _crosses(other, option, scale) for other in others)
    )


def _crosses(line: PlacedMark, label: PlacedMark, scale: float) -> bool:
    x = line.time * scale
    return not line.beyond and line.tier >= label.tier and label.left - 1 < x < label.right + 1


MAX_TRACKS = 8


def tracks(bars: Bars, tolerance: float, most: int = MAX_TRACKS) -> NDArray[np.int64]:
    """Return the track of each bar in its lane, so that bars of one track do not overlap.

    A lane in which more than ``most`` bars overlap keeps one track: there they are drawn over each
    other. Overlaps up to ``tolerance`` seconds do not count. Complexity: O(n log n) for n bars.
    """
    track = np.zeros(len(bars), dtype=np.int64)
    if len(bars) == 0:
        return track
    order = np.lexsort((bars.end, bars.start, bars.lane, bars.row))
    row, lane = bars.row[order], bars.lane[order]
    firsts = np.flatnonzero(
        np.concatenate([[True], (row[1:] != row[:-1]) | (lane[1:] != lane[:-1])])
    )
    for first, last in zip(firsts, np.append(firsts[1:], len(bars)), strict=True):
        members = order[first:last]
        start, end = bars.start[members], bars.end[members]
        reach = np.maximum.accumulate(end)
        if (start[1:] < reach[:-1] - tolerance).any():
            track[members] = _partition(start.tolist(), end.tolist(), tolerance, most)
    return track


def _partition(
    start: list[float], end: list[float], tolerance: float, most: int
) -> NDArray[np.int64]:
    """Give each interval, by start, the lowest track that is free; one track if too few."""
    chosen = np.zeros(len(start), dtype=np.int64)
    busy: list[tuple[float, int]] = []
    free = list(range(min(most, len(start))))
    for position, begin in enumerate(start):
        while busy and busy[0][0] <= begin + tolerance:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if not free:
            return np.zeros(len(start), dtype=np.int64)
        chosen[position] = heapq.heappop(free)
        heapq.heappush(busy, (end[position], int(chosen[position])))
    return chosen
