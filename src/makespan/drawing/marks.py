"""Where the labels of vertical lines go, so that each can be read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from makespan.core.picture import Mark
from makespan.drawing.text import short, text_width

SAME = 1e-9
GAP = 4.0
FAR = 1.5


@dataclass(frozen=True, slots=True)
class PlacedMark:
    """A line at ``time`` with its label.

    The label covers the plot's units from ``left`` to ``right``, on ``tier`` 0 (just above the
    rows) or higher. ``beyond``: the time is to the right of the picture, which has no line for it.
    """

    label: str
    time: float
    limit: bool
    beyond: bool = False
    left: float = 0.0
    right: float = 0.0
    tier: int = 0


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
    """Give each label a place where it covers no other label and no other line crosses it.

    Parameters
    ----------
    marks
        The marks, the most important first.
    scale
        Plot units per second.
    size
        The font size.
    low, high
        The plot units between which labels may stand.
    """
    done: list[PlacedMark] = []
    for mark in marks:
        width = text_width(mark.label, size)
        options = [
            replace(mark, left=left, right=left + width, tier=tier)
            for tier in range(len(marks) + 1)
            for left in _lefts(mark, mark.time * scale, width, low, high)
        ]
        done.append(
            next((option for option in options if _is_clear(option, done, scale)), None)
            or next(option for option in options if not _covers(option, done))
        )
    return tuple(done)


def _lefts(mark: PlacedMark, x: float, width: float, low: float, high: float) -> list[float]:
    """Return where the label may begin: beside its line, or over it where it must."""
    if mark.beyond:
        return [max(low, high - width)]
    sides = [x - GAP - width, x + GAP]
    if not mark.limit:
        sides.reverse()
    fitting = [left for left in sides if low <= left and left + width <= high]
    return [*fitting, max(low, min(x - width / 2, high - width))]


def _covers(option: PlacedMark, others: Sequence[PlacedMark]) -> bool:
    return any(
        option.tier == other.tier
        and option.left < other.right + 2 * GAP
        and other.left < option.right + 2 * GAP
        for other in others
    )


def _is_clear(option: PlacedMark, others: Sequence[PlacedMark], scale: float) -> bool:
    """Whether the label covers no other, and no line crosses a label on its way up."""
    return not _covers(option, others) and not any(
        _crosses(option, other, scale) or _crosses(other, option, scale) for other in others
    )


def _crosses(line: PlacedMark, label: PlacedMark, scale: float) -> bool:
    x = line.time * scale
    return (
        not line.beyond
        and line.tier >= label.tier
        and label.left - 1 < x < label.right + 1
    )
