"""An overview → pictures, a page, LaTeX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from makespan.core.display import Table, is_numeric
from makespan.core.picture import Curves
from makespan.drawing.comparison import profile_svg, ranking_svg
from makespan.drawing.diagram.curves import curves_on, curves_svg
from makespan.drawing.page.tables import html_table, on_each_screen, still_page
from makespan.drawing.render import Part, panel_image, stacked_image
from makespan.drawing.svg import escaped, stacked
from makespan.drawing.text import percent, short
from makespan.lab.overview import Overview, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT = 4.6  # inches of a curve
TEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def image_of(overview: Overview, suffix: str) -> str | bytes:
    """Return an overview as it stands in a file: ``.svg``, ``.html``, ``.tex``, or an image."""
    if suffix == ".tex":
        return as_latex(overview.tables())
    if suffix == ".svg":
        return as_svg(overview)
    return as_page(overview) if suffix == ".html" else as_image(overview, suffix)


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
        parts.append(on_each_screen(ranking_svg, ranks))
    parts.append(on_each_screen(profile_svg, overview.profile()))
    for each in overview.curves():
        parts += [f"<h2>{escaped(each.title)}</h2>", on_each_screen(curves_svg, each)]
    if overview.worst:
        parts += ["<h2>The widest gaps</h2>", _worst(overview)]
    if others:
        parts += ["<h2>By family</h2>", *map(html_table, others)]
    return still_page("How the methods did", parts)


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
    return "\n".join([*caption, begin, r"\hline", head, r"\hline", *rows, r"\hline", end]) + "\n"


def _tex(cell: object) -> str:
    return "".join(TEX.get(character, character) for character in str(cell))


def ranks_axes(ranks: Mapping[str, float], difference: float, ax: Axes) -> Axes:
    """Draw a critical-difference diagram: mean ranks on an axis, methods alike joined by bars.

    Source: Demšar 2006, figure 1.
    """
    methods, count = sorted(ranks, key=ranks.__getitem__), len(ranks)
    half, deepest = (count + 1) // 2, 0.0
    look: dict[str, Any] = {"color": "black", "linewidth": 0.8, "clip_on": False}
    for place, method in enumerate(methods):
        left = place < half
        level = -1.0 - (place if left else count - 1 - place) - len(groups(ranks, difference)) * 0.4
        end = 1.0 - 0.05 * count if left else count + 0.05 * count
        ax.plot([ranks[method], ranks[method], end], [0, level, level], **look)
        side, text = ("right", f"{method} ") if left else ("left", f" {method}")
        ax.text(end, level, text, ha=side, va="center", parse_math=False)
        deepest = min(deepest, level)
    for row, (low, high) in enumerate(groups(ranks, difference)):
        ends = [ranks[methods[low]] - 0.04, ranks[methods[high]] + 0.04]
        ax.plot(ends, [-0.4 * (row + 1)] * 2, **{**look, "linewidth": 3.0})
    ax.plot([1, 1 + difference], [1.6, 1.6], **look, marker="|")
    ax.text(1 + difference / 2, 1.75, f"CD = {difference:.2f}", ha="center", va="bottom")
    ax.plot([1, count], [0, 0], **look)
    for rank in range(1, count + 1):
        ax.plot([rank, rank], [0, 0.25], **look)
        ax.text(rank, 0.35, str(rank), ha="center", va="bottom")
    ax.set(xlim=(1 - 0.02 * count, count + 0.02 * count), ylim=(deepest - 0.6, 3.0))
    ax.axis("off")
    return ax


def groups(ranks: Mapping[str, float], difference: float) -> list[tuple[int, int]]:
    """Return the longest runs of methods, by rank, that are not told apart: first and last place.

    >>> groups({"a": 1.2, "b": 1.9, "c": 2.9}, 1.1)
    [(0, 1), (1, 2)]
    """
    values = sorted(ranks.values())
    ends = [max(i for i, v in enumerate(values) if v - low < difference) for low in values]
    return [
        (low, high)
        for low, high in enumerate(ends)
        if high > low and (low == 0 or ends[low - 1] < high)
    ]


def image_of_panel(panel: Panel, suffix: str) -> bytes:
    """Return one picture of an overview as it stands in a file."""
    difference, ranks = panel.overview.critical_difference, panel.overview.ranks
    if isinstance(panel.what, Curves):
        part: Part = (HEIGHT, partial(curves_on, panel.what))
    elif panel.name == "critical-difference" and difference is not None:
        part = 1.2 + 0.2 * len(ranks), partial(ranks_axes, ranks, difference)
    else:
        part = panel.what.part
    return panel_image(part, panel.width, suffix)
