"""Text of others, made fit for terminals and spreadsheets.

Names stand in results, messages and tables as they were given. Wherever text leaves for a reader
it passes here: a control character would steer the terminal, and a mark that turns the direction
of writing would let a line read as another.
"""

from __future__ import annotations

import re

STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, but for tabs and line breaks
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks, overrides and isolates of direction
    "\u2028\u2029\ufeff\ud800-\udfff]"  # other line breaks, byte order marks, half characters
)
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a cell begins with that spreadsheets take for a formula."""


def plain(text: str) -> str:
    r"""Return ``text`` with escapes in place of what steers a terminal; line breaks stay.

    The escapes are those of JSON, TOML and Python, so that what is written in these keeps its
    meaning.

    >>> print(plain("\x1b[2Jname"))
    \u001b[2Jname
    """
    return STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def one_line(text: str) -> str:
    r"""Return ``text`` in one line: line breaks and tabs are escaped, too.

    >>> print(one_line("a\nvalid, ends at 4"))
    a\nvalid, ends at 4
    """
    if "\n" in text or "\t" in text:
        text = text.replace("\n", "\\n").replace("\t", "\\t")
    return plain(text)


def cell(text: str) -> str:
    """Return ``text`` for a cell of a table: with an apostrophe before what looks like a formula.

    >>> cell("P1"), cell("=1+2"), cell(" @x")
    ('P1', "'=1+2", "' @x")
    """
    looks_like_one = text.startswith(FORMULA) or text.lstrip().startswith(FORMULA)
    return f"'{plain(text)}" if looks_like_one else plain(text)
