"""Comparisons → pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from makespan.drawing.comparison import Entry, Profile, Ranking, profile_svg, ranking_svg
from makespan.drawing.figure import drawn, stacked_image
from makespan.drawing.page.tables import html_table
from makespan.drawing.still import still_page
from makespan.drawing.svg import stacked
from makespan.drawing.text import percent, shortened
from makespan.flow.comparison.summary import (
    THRESHOLDS,
    profile,
    profile_table,
    summarise,
    summary_table,
)
from makespan.flow.comparison.table import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_RANKINGS = 20
"""Problems up to which a picture shows each; of more, it shows the profile alone."""


def ranking(comparison: Comparison, title: str | None = None) -> Ranking:
    """Return what a picture of a comparison shows."""
    what = comparison.objective
    entries = tuple(
        Entry(
            name=row.method,
            value=row.value,
            note=_note(row.gap, row.status, row.note) if row.value is None or row.gap else "",
            best=row.best,
        )
        for row in comparison.rows
    )
    return Ranking(
        title=f"{comparison.problem.kind}: methods side by side" if title is None else title,
        what=f"{what} (s)" if what == "makespan" else what,
        entries=entries,
        bound=_bound(comparison),
    )


def _bound(comparison: Comparison) -> float | None:
    """Return the best bound on what the methods are compared by."""
    objectives = [r.objective for r in comparison.results.values() if r.objective is not None]
    if not objectives:
        return comparison.lower_bound
    best = min if any(one.maximise for one in objectives) else max
    return best((one.bound for one in objectives if one.bound is not None), default=None)


def _note(gap: float | None, status: str, note: str) -> str:
    if gap is not None:
        return f"gap {percent(gap)}"
    return f"{status}: {shortened(note)}" if note else status


def plot_comparison(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw a comparison with matplotlib, and return the axes."""
    return drawn(ranking(comparison).part, ax)


def image_of(comparisons: Mapping[str, Comparison], suffix: str) -> str | bytes:
    """Return named comparisons below each other: ``.svg``, ``.png``, ``.pdf`` or ``.html``."""
    many = len(comparisons) > MAX_RANKINGS and suffix != ".html"
    shown = {} if many else comparisons
    rankings = [ranking(comparison, name) for name, comparison in shown.items()]
    over_all = [profile_of(list(comparisons.values()))] if len(comparisons) > 1 else []
    if suffix == ".html":
        return _page(list(comparisons.values()), rankings, over_all)
    if suffix == ".svg":
        return stacked([*map(ranking_svg, rankings), *map(profile_svg, over_all)])
    return stacked_image([*(x.part for x in rankings), *(x.part for x in over_all)], suffix)


def profile_of(comparisons: Sequence[Comparison]) -> Profile:
    """Return what a picture of methods over several problems shows."""
    rows = profile(comparisons)
    return Profile(
        title=f"How often within x % of the best, on {len(comparisons)} problems",
        thresholds=tuple(f"{100 * each:g} %" if each else "best" for each in THRESHOLDS),
        shares=tuple((row.method, row.shares) for row in rows),
    )


def plot_profile(comparisons: Sequence[Comparison], ax: Axes | None = None) -> Axes:
    """Draw a performance profile with matplotlib, and return the axes."""
    return drawn(profile_of(comparisons).part, ax)


def _page(
    comparisons: Sequence[Comparison], rankings: Sequence[Ranking], over_all: Sequence[Profile]
) -> str:
    """Return a page without scripts: a picture and a table for each problem, and a summary."""
    parts = []
    for one, comparison in zip(rankings, comparisons, strict=True):
        parts.append(ranking_svg(one))
        parts += map(html_table, comparison._tables())
    for each in over_all:
        parts += ["<h2>All problems</h2>", html_table(summary_table(summarise(comparisons)))]
        parts += [profile_svg(each), html_table(profile_table(profile(comparisons)))]
    return still_page("Methods side by side", parts)
