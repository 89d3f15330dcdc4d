"""Labels on lines, where they cover no box, no other label, and as few other lines as can be."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.drawing.text import text_width

PLACES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82)
"""How far along its line a label may stand, in the order of trial."""
SPACING = 2.0


@dataclass(frozen=True, slots=True)
class EdgeLabel:
    """A text in the middle of a free place, which it fills."""

    edge: int
    text: str
    x: float
    y: float
    width: float
    height: float


def labelled(
    texts: Sequence[str], ways: Sequence[Floats], boxes: Floats, size: float
) -> tuple[list[EdgeLabel], list[int]]:
    """Return the labels in their places, and the lines for whose label there is none.

    Lines with the fewest places to choose from are labelled first: the short ones. Complexity:
    O(e²) for e lines, vectorised.
    """
    named = [edge for edge, text in enumerate(texts) if text]
    if not named:
        return [], []
    segments = np.concatenate([np.hstack([way[:-1], way[1:]]) for way in ways])
    low, high = (
        np.minimum(segments[:, :2], segments[:, 2:]),
        np.maximum(segments[:, :2], segments[:, 2:]),
    )
    owner = np.repeat(np.arange(len(ways)), [len(way) - 1 for way in ways])
    length = {edge: _lengths(ways[edge]).sum() for edge in named}
    taken = np.column_stack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]])
    done: list[EdgeLabel] = []
    missing = []
    for edge in sorted(named, key=lambda edge: (length[edge], edge)):
        width, height = text_width(texts[edge], size) + 2.0, size + 2.0
        best, fewest = None, len(segments) + 1
        for part in PLACES:
            x, y = _point(ways[edge], part)
            corners = np.array([x - width / 2, y - height / 2, x + width / 2, y + height / 2])
            if _overlap(corners, taken):
                continue
            near = np.flatnonzero(
                (low[:, 0] <= corners[2])
                & (high[:, 0] >= corners[0])
                & (low[:, 1] <= corners[3])
                & (high[:, 1] >= corners[1])
            )
            crossed = _crossed(corners, segments[near[owner[near] != edge]])
            if crossed < fewest:
                best, fewest = (x, y, corners), crossed
            if not crossed:
                break
        if best is None:
            missing.append(edge)
            continue
        x, y, corners = best
        taken = np.concatenate([taken, corners[None]])
        done.append(EdgeLabel(edge, texts[edge], x, y, width, height))
    return done, missing


def _lengths(way: Floats) -> Floats:
    return np.asarray(np.hypot(*np.diff(way, axis=0).T))


def _point(way: Floats, part: float) -> tuple[float, float]:
    """Return the point at a share of the length of a line."""
    at = np.concatenate([[0.0], np.cumsum(_lengths(way))])
    x, y = (float(np.interp(part * at[-1], at, column)) for column in way.T)
    return x, y


def _overlap(corners: Floats, taken: Floats) -> bool:
    return bool(
        (
            (corners[0] < taken[:, 2] + SPACING)
            & (taken[:, 0] < corners[2] + SPACING)
            & (corners[1] < taken[:, 3] + SPACING)
            & (taken[:, 1] < corners[3] + SPACING)
        ).any()
    )


def _crossed(corners: Floats, segments: Floats) -> int:
    """Return how many segments come into a rectangle (clipping by Liang and Barsky 1984)."""
    if not len(segments):
        return 0
    start, step = segments[:, :2], segments[:, 2:] - segments[:, :2]
    with np.errstate(divide="ignore", invalid="ignore"):
        low = (corners[:2] - start) / step
        high = (corners[2:] - start) / step
    enter, leave = np.fmin(low, high), np.fmax(low, high)
    still = step == 0
    inside = (start >= corners[:2]) & (start <= corners[2:])
    enter = np.where(still, np.where(inside, -np.inf, np.inf), enter).max(axis=1)
    leave = np.where(still, np.where(inside, np.inf, -np.inf), leave).min(axis=1)
    return int(((enter <= leave) & (leave >= 0) & (enter <= 1)).sum())
