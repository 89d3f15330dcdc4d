"""An overview → curves, bars, a page, LaTeX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from makespan.core.diagram import Curves, Line
from makespan.core.numeric.arrays import Floats
from makespan.core.shown import Table, counted, is_numeric
from makespan.drawing.comparison import Entry, Profile, Ranking, profile_svg, ranking_svg
from makespan.drawing.diagram.curves import curves_on, curves_svg
from makespan.drawing.figure import stacked_image
from makespan.drawing.page.tables import html_table
from makespan.drawing.still import still_page
from makespan.drawing.svg import escaped, stacked
from makespan.drawing.text import percent, short
from makespan.flow.comparison.summary import THRESHOLDS
from makespan.flow.reports.rows import SAME, Rows

if TYPE_CHECKING:
    from makespan.flow.reports.overview import Overview

NEAR = 0.01
"""A case counts as solved within this share of the best."""
LEAST = 1e-4  # seconds; what takes less is shown as this
POINTS = 400  # of a curve
HEIGHT = 4.6  # inches of a curve
TEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


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


def as_svg(overview: Overview) -> str:
    """Return all pictures below each other as one SVG element."""
    ranks = overview.ranking()
    drawn = [] if ranks is None else [ranking_svg(ranks)]
    return stacked([*drawn, profile_svg(overview.profile()), *map(curves_svg, overview.curves())])


def as_image(overview: Overview, suffix: str) -> bytes:
    """Return all pictures as ``.png`` or ``.pdf``."""
    ranks, curves = overview.ranking(), overview.curves()
    parts = [] if ranks is None else [ranks.part]
    parts += [overview.profile().part, *((HEIGHT, partial(curves_on, each)) for each in curves)]
    return stacked_image(parts, suffix)


def as_page(overview: Overview) -> str:
    """Return tables and pictures as one page without scripts."""
    first, *others = overview.tables()
    parts = [f"<p>{escaped(', '.join(overview._facts()))}</p>", html_table(first)]
    parts += [f"<p>{escaped(note)}</p>" for note in overview._notes()]
    if (ranks := overview.ranking()) is not None:
        parts.append(ranking_svg(ranks))
    parts.append(profile_svg(overview.profile()))
    for each in overview.curves():
        parts += [f"<h2>{escaped(each.title)}</h2>", curves_svg(each, on_page=True)]
    if overview.worst:
        parts += ["<h2>The widest gaps</h2>", _worst(overview)]
    if others:
        parts += ["<h2>By family</h2>", *map(html_table, others)]
    return still_page("How the methods did", [f'<div class="wide">{part}</div>' for part in parts])


def _worst(overview: Overview) -> str:
    """Return the widest gaps as a table with links to instances that are files."""
    lines = []
    for instance, seed, method, value, gap in overview.worst:
        name = escaped(instance)
        if Path(instance).is_file():
            name = f'<a href="{escaped(Path(instance).resolve().as_uri())}">{name}</a>'
        cells = (name, escaped(method), str(seed), short(value, 6), percent(gap))
        lines.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>\n")
    heads = "".join(
        f"<th>{each}</th>" for each in ("instance", "method", "seed", "makespan", "gap")
    )
    return f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{''.join(lines)}</tbody>\n</table>"


def as_latex(tables: Sequence[Table]) -> str:
    r"""Return tables as LaTeX, each a ``tabular``.

    >>> print(as_latex([Table.of({"method": ["a_b"], "gap": ["1.5 %"]})]), end="")
    \begin{tabular}{lr}
    \hline
    method & gap \\
    \hline
    a\_b & 1.5 \% \\
    \hline
    \end{tabular}
    """
    return "\n".join(map(_tabular, tables))


def _tabular(table: Table) -> str:
    sides = "".join("r" if is_numeric(column) else "l" for column in table.columns)
    rows = [" & ".join(map(_tex, row)) + r" \\" for row in zip(*table.columns, strict=True)]
    head = " & ".join(map(_tex, table.names)) + r" \\"
    caption = [f"% {table.caption}"] if table.caption else []
    begin, end = f"\\begin{{tabular}}{{{sides}}}", r"\end{tabular}"
    lines = [*caption, begin, r"\hline", head, r"\hline", *rows, r"\hline", end]
    return "\n".join(lines) + "\n"


def _tex(cell: object) -> str:
    return "".join(TEX.get(character, character) for character in str(cell))
