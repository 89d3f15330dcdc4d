"""What people see of an object besides its text: a short line, tables in a notebook, pictures.

``makespan/__init__.py`` registers what draws. An object can then be drawn by a method of its own,
and nothing in ``core`` imports what draws it.
"""

from __future__ import annotations

import csv
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import StringIO
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from makespan.core.errors import plain
from makespan.core.system.startup import optional

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.axes import Axes as Axes  # noqa: PLC0414 - others take it from here
else:
    Axes = Any  # importing matplotlib waits until something is drawn


class Renderers(Protocol):
    """Draws problems, results, comparisons and overviews."""

    def plot(self, thing: Any, ax: Axes | None, **options: Any) -> Axes:
        """Draw a thing with matplotlib, into ``ax`` or into a new figure."""

    def image(self, thing: Any, suffix: str, **options: Any) -> str | bytes:
        """Return the picture of a thing as it stands in a file with this suffix; SVG of plans."""

    def title(self, result: Any) -> str:
        """Return the line above the picture of a result."""

    def tables(self, problem: Any) -> Sequence[Any]:
        """Return what a problem consists of, as tables of :mod:`makespan.core.display`."""

    def fragment(self, line: str, notes: Sequence[str], picture: str, tables: Sequence[Any]) -> str:
        """Return what a notebook shows of an object, as HTML."""


_registered: Renderers


def register_renderers(renderers: Renderers) -> None:
    """Register what draws, for the whole process."""
    global _registered  # noqa: PLW0603
    _registered = renderers


def renderers() -> Renderers:
    return _registered


NUMBER = re.compile(r"([-+<]? ?\d[\d.,e+-]*( \S{1,2})?|inf|nan|)$")
"""What a cell holds that is a number, perhaps with its unit, or nothing."""

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # so begins what spreadsheets take for a formula

Cell = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Columns of one length with their names; a ``caption`` where these don't say enough.

    ``length`` is how many rows there are where the columns are only their beginning.
    """

    caption: str = ""
    names: tuple[str, ...]
    columns: tuple[tuple[Cell, ...], ...]
    length: int | None = None

    @classmethod
    def of(
        cls, columns: Mapping[str, Sequence[Cell]], *, caption: str = "", length: int | None = None
    ) -> Table:
        """Return columns by their names as a table.

        >>> Table.of({"task": ["a", "b"], "end": [1.0, 2.0]}).names
        ('task', 'end')
        """
        cells = tuple(map(tuple, columns.values()))
        return cls(caption=caption, names=tuple(columns), columns=cells, length=length)

    def __str__(self) -> str:
        """Return the table as lines: numbers to the right, words to the left.

        >>> print(Table.of({"method": ["a", "bc"], "time": ["1.5 s", "12.5 s"]}))
        method    time
        a        1.5 s
        bc      12.5 s
        """
        padded = []
        for name, cells in zip(self.names, self.columns, strict=True):
            column = ["" if cell is None else str(cell) for cell in cells]
            width = max(map(len, (name, *column)))
            pad = str.rjust if is_numeric(cells) else str.ljust
            padded.append([pad(cell, width) for cell in (name, *column)])
        return "\n".join("  ".join(row).rstrip() for row in zip(*padded, strict=True))

    def as_dict(self) -> dict[str, Any]:
        return {"caption": self.caption, "names": self.names, "columns": self.columns}


def is_numeric(column: Sequence[Cell]) -> bool:
    """Whether a column holds numbers, also with their units: it then stands to the right.

    >>> is_numeric([1, None, 2.5]), is_numeric(["1.5 s", ""]), is_numeric(["1.0, 2.5, 3.0"])
    (True, True, False)
    """
    texts = ["" if cell is None else str(cell) for cell in column]
    return any(texts) and all(NUMBER.match(text) for text in texts)


class Displayable(ABC):
    """Shown as a line by ``repr``, as tables and a picture by a notebook."""

    __slots__ = ()

    @abstractmethod
    def _facts(self) -> Sequence[str]:
        """Return what tells the object from others, a few words each."""

    def _notes(self) -> Sequence[str]:
        """Return sentences that stand below the line."""
        return ()

    def _tables(self) -> Sequence[Table]:
        """Return what a notebook shows as tables."""
        return ()

    def _picture(self) -> str:
        """Return an SVG element that a notebook shows above the tables; empty for none."""
        return ""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(self._facts())}>"

    def _repr_html_(self) -> str:
        line = ", ".join(self._facts())
        return renderers().fragment(line, self._notes(), self._picture(), self._tables())


class HasFrame(ABC):
    """Rows that become a data frame."""

    __slots__ = ()

    @abstractmethod
    def _columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the columns of the frame by their names."""

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a pandas data frame."""
        return optional("pandas").DataFrame(self._columns())

    def to_polars(self) -> polars.DataFrame:
        """Return the rows as a polars data frame."""
        return optional("polars").DataFrame(self._columns())


class Exportable(ABC):
    """What :func:`makespan.save` writes in forms of its own."""

    __slots__ = ()
    SUFFIXES: ClassVar[tuple[str, ...]]

    @abstractmethod
    def _in_form(self, suffix: str) -> str | bytes:
        """Return what stands in a file of one of the ``SUFFIXES``."""


def cell(text: str) -> str:
    """Return ``text`` for a cell of a table: with an apostrophe before what looks like a formula.

    >>> cell("P1"), cell("=1+2"), cell(" @x")
    ('P1', "'=1+2", "' @x")
    """
    looks_like_one = text.startswith(FORMULA) or text.lstrip().startswith(FORMULA)
    return f"'{plain(text)}" if looks_like_one else plain(text)


def as_csv(columns: Mapping[str, Sequence[Any]], *, head: bool = True) -> str:
    r"""Return columns as a table, below their names where it has a ``head``.

    Names that a spreadsheet would take for formulas begin with an apostrophe.

    >>> as_csv({"machine": ["A", "=B"], "end": [2.0, None]})
    "machine,end\nA,2.0\n'=B,\n"
    """
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if head:
        writer.writerow(columns)
    shown = cache(cell)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([shown(value) if isinstance(value, str) else value for value in row])
    return text.getvalue()


def counted(number: int, one: str, several: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "task"), counted(2000, "task"), counted(2, "leaf", "leaves")
    ('1 task', '2,000 tasks', '2 leaves')
    """
    return f"{number:,} {one if number == 1 else several or one + 's'}"
