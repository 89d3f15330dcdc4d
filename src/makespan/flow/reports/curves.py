"""Rows of experiments → curves and bars."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from makespan.core.display import counted
from makespan.core.numeric.arrays import Floats
from makespan.core.picture import Curves, Line
from makespan.drawing.comparison import Entry, Profile, Ranking
from makespan.flow.comparison.summary import THRESHOLDS
from makespan.flow.reports.rows import SAME, Rows

NEAR = 0.01
"""A case counts as solved within this share of the best."""
LEAST = 1e-4  # seconds; what takes less is shown as this
POINTS = 400  # of a curve


def data_profile(rows: Rows) -> Curves | None:
    """Return on which share of the cases each method was near the best within which time."""
    near = rows.ratios <= 1 + NEAR + SAME
    lines = []
    for index, method in enumerate(rows.methods):
        times = np.sort(np.maximum(rows.seconds[near[:, index], index], LEAST))
        times = times[~np.isnan(times)]
        if len(times):
            shares = 100 * np.arange(1, len(times) + 1) / len(rows.instances)
            keep = np.unique(np.linspace(0, len(times) - 1, POINTS).astype(int))
            lines.append(Line(name=method, x=times[keep], y=shares[keep], look="steps"))
    if not lines:
        return None
    title = f"Within {100 * NEAR:g} % of the best, by time"
    return Curves(lines=lines, across="seconds", up="% of the cases", title=title, log="x")


def times(rows: Rows) -> Curves | None:
    """Return the median time of each method over the sizes of instances."""
    sizes = np.unique(rows.sizes[rows.sizes > 0])
    if len(sizes) < 2:
        return None
    lines = []
    for index, method in enumerate(rows.methods):
        medians = np.array([_median(rows.seconds[rows.sizes == size, index]) for size in sizes])
        known = ~np.isnan(medians)
        if known.any():
            x, y = sizes[known].astype(float), np.maximum(medians[known], LEAST)
            lines.append(Line(name=method, x=x, y=y))
    if not lines:
        return None
    title = "Median time over size"
    return Curves(lines=lines, across="size", up="seconds", title=title, log="xy")


def _median(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else np.nan


def profile(rows: Rows) -> Profile:
    """Return how often each method was within x % of the best."""
    limits = np.array([1 + threshold + SAME for threshold in THRESHOLDS])
    ratios = rows.ratios
    shares = [
        (method, tuple(float((ratios[:, index] <= limit).mean()) for limit in limits))
        for index, method in enumerate(rows.methods)
    ]
    shares.sort(key=lambda pair: tuple(-share for share in pair[1]))
    return Profile(
        title=f"How often within x % of the best, on {counted(len(rows.instances), 'case')}",
        thresholds=tuple(f"{100 * each:g} %" if each else "best" for each in THRESHOLDS),
        shares=tuple(shares),
    )


def ranking(ranks: Mapping[str, float], difference: float | None, cases: int) -> Ranking | None:
    """Return mean ranks as bars; those that the best is not told apart from are marked."""
    if difference is None:
        return None
    least = min(ranks.values())
    entries = tuple(
        Entry(
            name=method,
            value=round(rank, 2),
            best=rank <= least + difference,
            note="" if rank == least or rank > least + difference else "not told from the best",
        )
        for method, rank in ranks.items()
    )
    title = f"Mean ranks over {counted(cases, 'case')}, critical difference {difference:.2f}"
    return Ranking(title=title, what="mean rank", entries=entries)
