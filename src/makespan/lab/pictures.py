"""An overview → pictures, a page, LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from makespan.core.display import Table, is_numeric
from makespan.drawing.comparison import profile_svg, ranking_svg
from makespan.drawing.diagram.curves import curves_on, curves_svg
from makespan.drawing.page.tables import html_table, still_page
from makespan.drawing.render import stacked_image
from makespan.drawing.svg import escaped, stacked
from makespan.drawing.text import percent, short
from makespan.lab.overview import Overview

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
