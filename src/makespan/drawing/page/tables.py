"""Answers → tables in HTML, whatever the kind; pages without scripts.

Values of the same keys stand beside each other.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from makespan.core.display import Cell, Table, is_numeric
from makespan.drawing.colours import DARK, LIGHT
from makespan.drawing.svg import escaped
from makespan.drawing.text import short

MAX_WORDS = 12  # in one cell
SHOWN = 50  # rows of a table in a notebook
LONGEST = 200  # characters in a cell of HTML
SLIM = 360.0  # pixels of a picture on a narrow screen


def answer_tables(answer: Mapping[str, Any]) -> tuple[Table, ...]:
    """Return an answer as tables.

    What has one value, or a few words, stands in the first table; tables of the same keys become
    the columns of one, and so do lists of one length; a list of tables becomes one.

    >>> [table.names for table in answer_tables({"loads": {"A": 1.0}, "end": {"A": 2.0}})]
    [('', 'loads', 'end')]
    """
    single: dict[str, Any] = {}
    by_key: dict[tuple[str, ...], dict[str, Sequence[Any]]] = {}
    by_length: dict[int, dict[str, Sequence[Any]]] = {}
    found: list[Table] = []
    for name, value in answer.items():
        if isinstance(value, Mapping) and value:
            by_key.setdefault(tuple(map(str, value)), {})[name] = tuple(value.values())
        elif _is_list(value) and value and all(isinstance(part, Mapping) for part in value):
            names = tuple(dict.fromkeys(key for record in value for key in record))
            columns = tuple(tuple(_cell(record.get(key)) for record in value) for key in names)
            found.append(Table(caption=name, names=names, columns=columns))
        elif (
            _is_list(value)
            and value
            and (len(value) > MAX_WORDS or not all(isinstance(part, str) for part in value))
        ):
            by_length.setdefault(len(value), {})[name] = value
        else:
            single[name] = value
    keyed = [_beside("", keys, parts) for keys, parts in by_key.items()]
    counted = [_beside("index", range(count), parts) for count, parts in by_length.items()]
    return (*_of_values(single), *keyed, *counted, *found)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _of_values(values: Mapping[str, Any]) -> tuple[Table, ...]:
    if not values:
        return ()
    cells = tuple(_cell(value) for value in values.values())
    return (Table(caption="", names=("", ""), columns=(tuple(values), cells)),)


def _beside(head: str, keys: Sequence[Any], parts: Mapping[str, Sequence[Any]]) -> Table:
    columns = [tuple(map(_cell, part)) for part in parts.values()]
    return Table(caption="", names=(head, *parts), columns=(tuple(map(_cell, keys)), *columns))


def _cell(value: Any) -> Cell:
    """Return what stands in a cell: numbers as they are, lists and tables as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_word(part)}" for key, part in value.items())
    if _is_list(value):
        return ", ".join(map(_word, value))
    return str(value)


def _word(value: Any) -> str:
    """Return what stands among others in a cell: of a number six digits."""
    return f"{value:.6g}" if isinstance(value, float) else str(_cell(value))


def html_table(table: Table, *, most: int | None = None) -> str:
    """Return a table as HTML, of ``most`` rows at most; what is left out is counted below it.

    >>> print(html_table(Table(names=("a",), columns=((1, 2),)), most=1))
    <table>
    <thead><tr><th style="text-align:right">a</th></tr></thead>
    <tbody>
    <tr><td style="text-align:right">1</td></tr>
    </tbody>
    </table>
    <p>… and 1 more</p>
    """
    caption = f"<caption>{escaped(table.caption)}</caption>\n" if table.caption else ""
    sides = ["right" if is_numeric(column) else "left" for column in table.columns]
    heads = _row("th", sides, [name.replace("_", " ") for name in table.names])
    rows = list(zip(*(map(_written, column[:most]) for column in table.columns), strict=True))
    lines = "".join(f"{_row('td', sides, row)}\n" for row in rows)
    length = len(table.columns[0]) if table.length is None else table.length
    rest = f"\n<p>… and {length - len(rows):,} more</p>" if length > len(rows) else ""
    head = f"<thead>{heads}</thead>\n" if any(table.names) else ""
    return f"<table>\n{caption}{head}<tbody>\n{lines}</tbody>\n</table>{rest}"


def _row(tag: str, sides: Sequence[str], texts: Sequence[str]) -> str:
    cells = (
        f'<{kind} style="text-align:{side}">{escaped(text)}</{kind}>'
        for side, text in zip(sides, texts, strict=True)
        for kind in ["td" if not text else tag]  # screen readers would name an empty head
    )
    return f"<tr>{''.join(cells)}</tr>"


def _written(cell: Cell) -> str:
    if cell is None:
        return ""
    text = short(cell, 6) if isinstance(cell, float) else str(cell)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def fragment(line: str, notes: Sequence[str], picture: str, tables: Sequence[Table]) -> str:
    """Return what a notebook shows of an object: a line, sentences, a picture, tables."""
    parts = [f"<p><strong>{escaped(line)}</strong></p>"]
    parts += [f"<p>{escaped(note)}</p>" for note in notes]
    parts += [picture, *(html_table(table, most=SHOWN) for table in tables)]
    style = 'tabindex="0" style="overflow-x:auto"'  # keys scroll what has the focus
    return f'<div class="makespan" {style}>{"".join(parts)}</div>'


STYLE = """
body { margin: 0 auto; max-width: 1000px; padding: 20px; background: var(--paper);
  color: var(--ink); font: 14px/1.45 system-ui, Helvetica, Arial, sans-serif; }
svg { max-width: 100%; height: auto; border-radius: 8px; }
.wide { overflow-x: auto; }
.slim { display: none; }
@media (max-width: 700px) {
  .wide svg { max-width: none; }
  .wide table { width: max-content; max-width: 720px; }
  .slim { display: block; }
  .broad { display: none; }
}
table { border-collapse: collapse; margin: 12px 0 28px; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 12px; border-bottom: 1px solid var(--grid); }
td[style*="right"] { white-space: nowrap; }
"""


def on_each_screen(draw: Callable[..., str], what: object) -> str:
    """Return ``what`` drawn twice, broad and slim: a page shows the one that its screen holds."""
    broad, slim = draw(what, on_page=True), draw(what, width=SLIM, on_page=True)
    return f'<div class="broad">{broad}</div><div class="slim">{slim}</div>'


def still_page(title: str, parts: Sequence[str]) -> str:
    """Return a page of ``parts``, which are HTML, below a heading; pictures and tables scroll."""
    light, dark = ("".join(f"--{k}: {v}; " for k, v in theme.items()) for theme in (LIGHT, DARK))
    name = escaped(title)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name}</title>\n<style>\n"
        f":root {{ color-scheme: light dark; {light}}}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}\n{STYLE}</style>\n"
        f"</head>\n<body>\n<main>\n<h1>{name}</h1>\n"
        + "\n".join(map(_scrolling, parts))
        + "</main>\n</body>\n</html>\n"
    )


def _scrolling(part: str) -> str:
    words = part.startswith(("<h", "<p"))
    return part if words else f'<div class="wide" tabindex="0">{part}</div>'
