"""Where the labels of vertical lines go, so that each can be read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from makespan.core.picture import Mark
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


def combined(marks: Sequence[Mark], end: float) -> list[PlacedMark]:
    """Join marks at one time into one, such as ``makespan = lower bound 28``."""
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
            joined.append(PlacedMark(mark.label, mark.time, mark.limit, mark.time > end))
            names.append([mark.label])
    return [
        replace(mark, label=f"{' = '.join(words)} {short(mark.time, 6)}{' →' * mark.beyond}")
        for mark, words in zip(joined, names, strict=True)
    ]


def placed(
    marks: Sequence[PlacedMark], scale: float, size: float, low: float, high: float
) -> tuple[PlacedMark, ...]:
    """Give each label a place where it covers no other, and if possible no line crosses it.

    Each in turn takes the first place that is free; of all orders of taking turns (where the
    marks are few), the one with the fewest crossings and the lowest labels is kept.

    Parameters
    ----------
    marks
        The marks.
    scale
        Plot units per second.
    size
        The font size of the labels, which are bold.
    low, high
        The plot units between which labels may stand.
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
