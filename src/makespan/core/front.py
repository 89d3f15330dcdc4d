"""The points of a Pareto front: in words, and in the details of a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Values = tuple[tuple[str, float], ...]
"""The names of both objectives, and what a point reaches of each."""


Unknown = Sequence[float | None]
"""Two times between which points may be missing; the second is None where there is no last one."""


def gaps_in_words(unknown: Sequence[Unknown]) -> str:
    """Return between which times points may be missing, from the first to the last of them.

    >>> gaps_in_words([[1.0, 2.0], [5.0, None]]), gaps_in_words([[1.0, 2.0]])
    ('others may lie from 1 s on', 'others may lie between 1 and 2 s')
    """
    low, high = unknown[0][0], unknown[-1][1]
    if high is None:
        return f"others may lie from {low:.4g} s on"
    return f"others may lie between {low:.4g} and {high:.4g} s"


def in_words(
    points: Sequence[tuple[float, float]], other: str, unknown: Sequence[Unknown] = ()
) -> str:
    """Return how many points there are, and of the first and last three time and ``other``.

    Behind them stands where points may be missing.

    >>> in_words([(1.0, 30.0), (2.0, 12.5)], "price")
    '2 points on the front (time and price): 1 s 30; 2 s 12.5'
    """
    shown = [f"{time:.4g} s {value:.4g}" for time, value in points]
    few = shown if len(shown) <= 6 else [*shown[:3], "…", *shown[-3:]]
    word = f"point{'s' if len(points) > 1 else ''}"
    if unknown:
        few.append(gaps_in_words(unknown))
    return f"{len(points)} {word} on the front (time and {other}): {'; '.join(few)}"


def points_of(details: Mapping[str, Any], other: str) -> Iterator[tuple[Values, Mapping[str, Any]]]:
    """Yield what each point in the ``details`` of a result reaches, and the point, by time.

    >>> details = {"front": [{"time": 2, "price": 1}, {"time": 1, "price": 3}]}
    >>> [values for values, _ in points_of(details, "price")]
    [(('time', 1.0), ('price', 3.0)), (('time', 2.0), ('price', 1.0))]
    """
    for point in sorted(details.get("front", ()), key=lambda point: float(point["time"])):
        yield tuple((name, float(point[name])) for name in ("time", other)), point
