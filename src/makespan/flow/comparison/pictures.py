"""Comparisons → pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from makespan.core.system.extras import optional
from makespan.drawing.comparison.profile import (
    Profile,
    draw_profile,
    profile_axes,
    profile_svg,
)
from makespan.drawing.comparison.ranking import Entry, Ranking, ranking_axes, ranking_svg
from makespan.drawing.figure import as_bytes, own_figure
from makespan.drawing.page.tables import html_table
from makespan.drawing.still import still_page
from makespan.drawing.svg import Canvas
from makespan.drawing.text import percent, shortened
from makespan.flow.comparison.summary import (
    THRESHOLDS,
    profile,
    profile_table,
    summarise,
    summary_table,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from makespan.flow.comparison.table import Comparison

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


def plot_comparison(
    comparison: Comparison, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw a comparison with matplotlib, and return the axes."""
    if ax is None:
        plt = optional("matplotlib.pyplot")

        size = (9.0, 1.4 + 0.32 * len(comparison.rows))
        _, ax = plt.subplots(figsize=size, layout="constrained")
    return ranking_axes(ranking(comparison, title), ax)


def written(comparisons: Mapping[str, Comparison], suffix: str) -> str | bytes:
    """Return named comparisons below each other: ``.svg``, ``.png``, ``.pdf`` or ``.html``."""
    over_all = profile_of(list(comparisons.values())) if len(comparisons) > 1 else None
    if len(comparisons) > MAX_RANKINGS and suffix != ".html":
        assert over_all is not None
        return profile_svg(over_all) if suffix == ".svg" else _image([], over_all, suffix)
    rankings = [ranking(comparison, name) for name, comparison in comparisons.items()]
    if suffix == ".svg":
        return _svg(rankings, over_all)
    if suffix == ".html":
        return _page(comparisons, rankings, over_all)
    return _image(rankings, over_all, suffix)


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
    drawn = profile_of(comparisons)
    if ax is None:
        plt = optional("matplotlib.pyplot")

        size = (9.0, 1.6 + 0.32 * len(drawn.shares))
        _, ax = plt.subplots(figsize=size, layout="constrained")
    profile_axes(drawn, ax)
    return ax


def _svg(rankings: Sequence[Ranking], over_all: Profile | None) -> str:
    if over_all is None:
        return ranking_svg(rankings)

    def below(canvas: Canvas, top: float, width: float) -> None:
        draw_profile(canvas, over_all, top, width)

    return ranking_svg(rankings, below=below, below_height=over_all.height)


def _image(rankings: Sequence[Ranking], over_all: Profile | None, suffix: str) -> bytes:
    heights = [1.4 + 0.32 * len(one.entries) for one in rankings]
    if over_all is not None:
        heights.append(1.6 + 0.32 * len(over_all.shares))
    figure = own_figure(figsize=(9.0, sum(heights)), layout="constrained")
    grid = figure.subplots(len(heights), squeeze=False, gridspec_kw={"height_ratios": heights})
    for one, ax in zip(rankings, grid[:, 0], strict=False):
        ranking_axes(one, ax)
    if over_all is not None:
        profile_axes(over_all, grid[-1, 0])
    return as_bytes(figure, suffix)


def _page(
    comparisons: Mapping[str, Comparison], rankings: Sequence[Ranking], over_all: Profile | None
) -> str:
    """Return a page without scripts: a picture and a table for each problem, and a summary."""
    parts = []
    for one, comparison in zip(rankings, comparisons.values(), strict=True):
        parts.append(ranking_svg([one]))
        parts += map(html_table, comparison._tables())
    if over_all is not None:
        summaries = summarise(list(comparisons.values()))
        parts += ["<h2>All problems</h2>", html_table(summary_table(summaries))]
        shares = profile_table(profile(list(comparisons.values())))
        parts += [profile_svg(over_all), html_table(shares)]
    return still_page("Methods side by side", parts)
