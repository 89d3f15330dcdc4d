"""The picture of a Pareto front of the makespan and another value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from makespan.core.errors import InputError
from makespan.core.picture import Curves, Line
from makespan.core.schedule import Schedule
from makespan.core.solution import gaps_in_words
from makespan.drawing.text import short


def front_curves(
    details: Mapping[str, Any],
    schedule: Schedule | None,
    value: str,
    said: Callable[[Mapping[str, Any]], str] = lambda point: "",
) -> Curves:
    """Return the front in the details of a result, the plan of ``schedule`` marked.

    ``value`` is what the points hold beside their ``time``; ``said`` is added to what is said of
    a point.
    """
    if "front" not in details:
        raise InputError("view: 'front' needs a result with objective 'pareto'")
    points = sorted(details["front"], key=lambda point: point["time"])
    times, values = (
        np.array([point[name] for point in points], dtype=np.float64) for name in ("time", value)
    )
    chosen = np.empty(0, dtype=np.int64)
    if schedule is not None and len(times):
        chosen = np.array([int(np.argmin(np.abs(times - schedule.makespan)))])
    marks = [f"{short(point['time'])} s, {short(point[value])}{said(point)}" for point in points]
    unknown = details.get("unknown", ())
    cut = f"; {gaps_in_words(unknown)}" if unknown else ""
    return Curves(
        lines=(
            Line(name="front", x=times, y=values, look="steps"),
            Line(name="front", x=times, y=values, look="points", chosen=chosen, labels=marks),
        ),
        across="makespan (s)",
        up=value,
        title=f"Pareto front: {len(points)} point{'s' if len(points) != 1 else ''}{cut}",
    )
