"""A page without scripts: pictures and tables below each other, by day and by night."""

from __future__ import annotations

from collections.abc import Sequence

from makespan.drawing.colours import DARK, LIGHT
from makespan.drawing.svg import escaped

STYLE = """
body { margin: 0 auto; max-width: 1000px; padding: 20px; background: var(--paper);
  color: var(--ink); font: 14px/1.45 system-ui, Helvetica, Arial, sans-serif; }
svg { max-width: 100%; height: auto; border-radius: 8px; }
.wide { overflow-x: auto; }
@media (max-width: 700px) { .wide svg { max-width: none; } }
table { border-collapse: collapse; margin: 12px 0 28px; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 12px; border-bottom: 1px solid var(--grid); }
td[style*="right"] { white-space: nowrap; }
"""


def still_page(title: str, parts: Sequence[str]) -> str:
    """Return a page of ``parts``, which are HTML, below a heading."""
    light, dark = ("".join(f"--{k}: {v}; " for k, v in theme.items()) for theme in (LIGHT, DARK))
    name = escaped(title)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name}</title>\n<style>\n"
        f":root {{ color-scheme: light dark; {light}}}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}\n{STYLE}</style>\n"
        f"</head>\n<body>\n<h1>{name}</h1>\n" + "\n".join(parts) + "</body>\n</html>\n"
    )
